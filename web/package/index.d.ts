// Types of the package. `docs/` of the project describes queries, policies and results; names are the same everywhere.
import type {
  ApproachColumns,
  CircumstancesRecord,
  ClosestColumns,
  ContainsColumns,
  ConventionsRecord,
  CountColumns,
  IntervalColumns,
  OccludedColumns,
  PathPointRecord,
  SolarEclipseRecord,
  TransmittanceColumns,
} from './records.js';

export type * from './records.js';

/** Id that stands for "no sphere": the id of a miss. */
export const NO_SPHERE: 4294967295;

/** Numbers of f32: arrays of other types are rounded once. */
export type Floats = Float32Array | Float64Array | readonly number[];
/** Numbers of f64. */
export type Doubles = Float64Array | Float32Array | readonly number[];
/** Integers from 0 to 2³² − 1. */
export type Integers = Uint32Array | readonly number[];

/** What a global name stands for, or something else where there is none, as in Node without the types of browsers. */
type Global<Name extends string, Otherwise> = typeof globalThis extends { [name in Name]: infer Own } ? Own : Otherwise;
/** An address, as text or as a `URL`. Relative ones are those of the page; in Node, a text may be a path. */
type Address = string | { readonly href: string };

export type Precision = 'auto' | 'fast' | 'standard' | 'exact';

export interface Transfer {
  /**
   * Gives typed arrays to the engine, instead of copies: they may have no entries afterwards. Shared memory is copied all the same, and
   * that of another WebAssembly module cannot be given. Default: false.
   */
  transfer?: boolean;
}

export interface DeviceOptions {
  /** `auto`: the GPU, unless it is a software adapter, or else the CPU engine. `gpu`: the browser's adapter, whatever it is. Default: `auto`. */
  device?: 'auto' | 'gpu' | 'cpu';
  /** Precision that the device must guarantee; `auto` is every precision. */
  precision?: Precision;
  /** Number of workers that help with batches of 65,536 rays or more on the CPU engine. Default: one less than the cores. */
  helpers?: number;
  /** The module: where `umbracast/umbracast_bg.wasm` is, or its bytes. */
  wasm?: Address | ArrayBuffer | ArrayBufferView | Global<'WebAssembly', { Module: { prototype: unknown } }>['Module']['prototype'];
  /** Where `umbracast/worker.js` is. */
  worker?: Address;
}

export interface SphereOptions extends Transfer {
  /** Bits per sphere: a ray can hit a sphere only if their masks share a bit. Default: all bits. */
  masks?: Integers;
  /** Velocities, 3 numbers per sphere. */
  velocities?: Floats;
  /** Fraction of light that each sphere lets through, for `transmittance`. Default: 0. */
  transmittances?: Floats;
  /** Semi-axes of ellipsoids, 3 numbers each. The spheres are then centres, 3 numbers each. */
  semi_axes?: Floats;
  /** Rotations of ellipsoids: quaternions w, x, y, z. They need `semi_axes`. Default: none. */
  rotations?: Floats;
}

export interface SceneOptions extends SphereOptions {
  /** First and last time at which moving spheres are queried. Default: 0 and 1. */
  time_range?: Floats;
  /** Casts ray i at sphere i only. */
  pairwise?: boolean;
}

export interface Policies {
  /** A ray that starts inside a sphere hits it at its start (`enter`), where it leaves it (`exit`), or not at all. Default: `enter`. */
  inside?: 'enter' | 'exit' | 'ignore';
  /** Whether a tangent ray hits. Default: `hit`. */
  touch?: 'hit' | 'miss';
  /** Whether `t_max` itself is within the ray (`closed`). Default: `closed`. */
  ends?: 'closed' | 'half-open';
  /** Default: `exact`, the same bytes on every device. */
  precision?: Precision;
  /** A ray with NaN, say, is an error (`refuse`), or misses and counts as `skipped`. Default: `refuse`. */
  on_bad?: 'refuse' | 'skip';
  /** Moving spheres are seen at the time of the ray, or move while it travels, with `t` as the time. Default: `at-time`. */
  motion?: 'at-time' | 'with-ray';
  /** Whether a surface between `t` = 0 and `t_min` blocks the ray. Default: `auto`, which is `pass` for rays that are given. */
  near?: 'auto' | 'pass' | 'block';
}

/** Policies, and columns with one entry per ray; a number is for all rays. */
export interface RayOptions extends Policies, Transfer {
  /** The first `t` that counts, in lengths of the direction. Default: 0. */
  t_min?: number | Floats;
  /** The last one. With a direction that leads to a lamp, 1 ends the ray there. Default: infinity. */
  t_max?: number | Floats;
  /** Bits per ray: it can hit spheres whose masks share one. Default: all bits. */
  masks?: number | Integers;
  /** The sphere that each ray passes through. A shadow ray from a sphere's centre skips that sphere. Default: `NO_SPHERE`. */
  skip_ids?: number | Integers;
  /** The sphere on whose surface each ray starts: it is not hit again there. Default: `NO_SPHERE`. */
  from_ids?: number | Integers;
  /** When each ray sees moving spheres. Default: 0. */
  times?: number | Floats;
  /** Radius of each ray: spheres count as that much larger. Default: 0. */
  ray_radius?: number | Floats;
}

/** Errors have a `name`: `BadRecord`, `Closed`, `Freed`, `NoDevice`, `InvalidArgument` and others. That of a record says which it is. */
export interface BadRecord extends Error {
  name: 'BadRecord';
  what: string;
  index: number;
  field: string;
  value: string;
}

export interface PointOptions extends Pick<Policies, 'precision' | 'on_bad'>, Transfer {
  masks?: Integers;
  skip_ids?: Integers;
  times?: Floats;
}

export interface BulletOptions extends Pick<Policies, 'precision' | 'on_bad'>, Transfer {
  /** Distance per frame. Default: 1. */
  speeds?: Floats;
  /** Radii of bullets that are balls. Default: 0. */
  radii?: Floats;
  from_ids?: Integers;
  /** Maximum number of hits per bullet. Default: 1. */
  bounces?: number;
}

export interface Report {
  rays: number;
  rays_hit: number;
  skipped: number;
  overflowed: number;
  resolved_exactly: number;
  off_surface: number;
  precision: Exclude<Precision, 'auto'>;
  seconds: number;
}

export interface Reported {
  report: Report;
}

/** The hits of ray i are `offsets[i]` to below `offsets[i + 1]` in the other arrays. */
export interface HitLists extends IntervalColumns, Reported {
  offsets: Uint32Array;
}

/** The legs of bullet i are `offsets[i]` to below `offsets[i + 1]` in the other arrays. */
export interface Flights extends Reported {
  offsets: Uint32Array;
  /** How the leg ends: 0 on a sphere, 1 nowhere, 2 at its start, inside a sphere. */
  status: Uint8Array;
  id: Uint32Array;
  distance: Float32Array;
  frames: Float32Array;
  /** 3 numbers per leg. */
  point: Float32Array;
  grazing_rad: Float32Array;
  /** 3 numbers per leg. */
  velocity: Float32Array;
}

export interface Update {
  /** By how much the boxes of the tree have grown since it was built: 0.5 is by half. */
  quality_loss: number;
  /** Whether queries would have been slower by a quarter or more. The engine has then built a new tree. */
  rebuild_suggested: boolean;
}

export interface Picture {
  /** In a browser, for `putImageData`. */
  image: Global<'ImageData', { prototype: { width: number; height: number; data: Uint8ClampedArray } }>['prototype'];
  t: Float32Array;
  id: Uint32Array;
  fraction: Float32Array;
}

export interface Shadows {
  fraction: Float64Array;
  /** 0 lit, 1 penumbra, 2 antumbra, 3 umbra. */
  kind: Uint8Array;
  flux: Float64Array;
}

export interface ShadowOptions extends Transfer {
  polar_radii?: Doubles;
  /** Directions of the poles, 3 numbers each. Default: the z axis. */
  poles?: Doubles;
  /** The two coefficients of the quadratic law. */
  limb_darkening?: Doubles;
  /** Number of bodies of each observer, where each has its own. */
  body_count?: number;
}

export interface EclipseOptions {
  radii?: 'iau' | 'nasa';
  /** The radius of the Sun at 1 au, in arcseconds. */
  sun_radius?: number;
}

export interface PlaceInput {
  name?: string;
  latitude_deg: number;
  longitude_deg: number;
  height_m?: number;
}

/** Longitude and latitude in degrees, and seconds from the greatest eclipse, of each point. */
export type Line = [number, number, number][];

/** What the radius of the Sun, the relief of the Moon's limb and the rotation of the Earth may change at a place. */
export interface CircumstancesErrors {
  c1_s: number | null;
  c2_s: number | null;
  maximum_s: number | null;
  c3_s: number | null;
  c4_s: number | null;
  obscuration: number;
  /** The kinds that the eclipse may have there: more than one at the edge of the path. */
  kinds: ('none' | 'partial' | 'annular' | 'total')[];
}

/** The lines of a solar eclipse on the Earth. */
export interface EclipseLines {
  center: Line;
  path: PathPointRecord[];
  /** Limits of the path, for each of two radii of the Sun in arcseconds at 1 au. */
  limits: { sun_radius: number; north: Line[]; south: Line[] }[];
  /** Where the eclipse begins or ends with the Sun at the horizon. */
  horizon: Line[];
  maximum_at_horizon: Line[];
  /** Limits of the partial eclipse. */
  partial: Line[];
}

/** An open device, with its worker. */
export class Device {
  private constructor();
  static open(options?: DeviceOptions | 'auto' | 'gpu' | 'cpu'): Promise<Device>;
  /** Name of the adapter; `cpu` for the CPU engine. */
  readonly name: string;
  readonly kind: string;
  /** Instruction set of the CPU engine. */
  readonly levels: string[];
  readonly isCpu: boolean;
  /** Why the GPU or a worker was given up; the CPU engine answers since. */
  readonly lost?: string;
  /** Ends the workers. Calls without an answer, and later ones, fail with the name `Closed`. */
  close(): void;
  /** Builds a scene of spheres, 4 numbers each: centre and radius. */
  scene(spheres: Floats, options?: SceneOptions): Promise<Scene>;
  /** Renders a system file: its text, or an object with its keys. */
  render(system: string | object, options?: { width?: number; height?: number; samples?: number }): Promise<Picture>;
  /**
   * Computes how much of a light is visible behind bodies, on the CPU engine, to 10⁻⁹ (10⁻⁹ + 5 · 10⁻¹⁷ / a for a light of
   * the angular radius a in rad). Light and bodies are those of all observers, or each
   * observer has its own.
   */
  visibleFraction(
    observers: Doubles,
    light: Doubles,
    light_radius: number | Doubles,
    bodies: Doubles,
    radii: number | Doubles,
    options?: ShadowOptions,
  ): Promise<Shadows>;
  /** Solar eclipses of the years from `first` to `last`, from 1900 to 2050. */
  eclipses(first: number, last: number, options?: Pick<EclipseOptions, 'radii'>): Promise<SolarEclipseRecord[]>;
  /** The solar eclipse of a day, such as `2027-08-02`. */
  eclipse(date: string, options?: EclipseOptions): Promise<{ eclipse: SolarEclipseRecord; conventions: ConventionsRecord }>;
  /** What places see of the eclipse of a day. */
  circumstances(
    date: string,
    places: PlaceInput[],
    options?: EclipseOptions,
  ): Promise<{ eclipse: SolarEclipseRecord; places: CircumstancesRecord[]; errors: CircumstancesErrors[]; conventions: ConventionsRecord }>;
  /** The lines of the eclipse of a day on the Earth. */
  map(date: string, options?: EclipseOptions): Promise<EclipseLines>;
}

/** Spheres on a device. The index of a sphere is its id. */
export class Scene {
  private constructor();
  /** Number of spheres. */
  readonly length: number;
  /** Frees the memory of the scene after the calls before. Later calls fail with the name `Freed`. */
  free(): void;
  /**
   * Replaces the spheres by as many others. Columns that are not given stay as they are. `semi_axes` without `rotations` are those of
   * ellipsoids that are not rotated.
   */
  update(spheres: Floats, options?: SphereOptions): Promise<Update>;
  /** The first sphere that each ray hits. Origins and directions have 3 numbers per ray; one origin or one direction is that of all. */
  closest(origins: Floats, directions: Floats, options?: RayOptions): Promise<ClosestColumns & Reported>;
  /** Both roots of the first sphere that each ray hits. */
  interval(origins: Floats, directions: Floats, options?: RayOptions): Promise<IntervalColumns & Reported>;
  /** How near each ray passes to a sphere. */
  approach(origins: Floats, directions: Floats, options?: RayOptions): Promise<ApproachColumns & Reported>;
  /** Whether each ray hits any sphere: 0 or 1. */
  occluded(origins: Floats, directions: Floats, options?: RayOptions): Promise<OccludedColumns & Reported>;
  /** How many spheres each ray hits. */
  count(origins: Floats, directions: Floats, options?: RayOptions): Promise<CountColumns & Reported>;
  /** How much light passes along each ray. */
  transmittance(origins: Floats, directions: Floats, options?: RayOptions): Promise<TransmittanceColumns & Reported>;
  /** Every sphere that each ray hits, in order. */
  all(origins: Floats, directions: Floats, options?: RayOptions): Promise<HitLists>;
  /** The first `k` of them. */
  nearest(k: number, origins: Floats, directions: Floats, options?: RayOptions): Promise<HitLists>;
  /** How many spheres contain each point, 3 numbers each, and the lowest id of them. */
  contains(points: Floats, options?: PointOptions): Promise<ContainsColumns & Reported>;
  /** Traces bullets from starts towards targets, 3 numbers each, and their ricochets. */
  bullets(starts: Floats, targets: Floats, options?: BulletOptions): Promise<Flights>;
}
