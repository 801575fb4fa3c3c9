// Scenes of the tests, and their answers by the command line.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const ROOT = new URL('../..', import.meta.url).pathname;
export const COMMAND = process.env.UMBRACAST ?? path.join(ROOT, 'target/release/umbracast');

/** Numbers from 0 to below 1. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** Spheres in a cube, and rays through it. A tenth of the rays is tangent to a sphere, as far as f32 can tell. */
export function cube(sphereCount, rayCount) {
  const next = random(45);
  const spheres = Float32Array.from({ length: 4 * sphereCount }, (_, i) => (i % 4 === 3 ? 0.02 + 0.2 * next() : 20 * next() - 10));
  const origins = Float32Array.from({ length: 3 * rayCount }, () => 30 * next() - 15);
  const directions = Float32Array.from({ length: 3 * rayCount }, (_, i) => 20 * next() - 10 - origins[i]);
  for (let i = 0; i < rayCount; i += 10) {
    // Along x, at one radius above the centre.
    const [x, y, z, r] = spheres.subarray(4 * (i % sphereCount), 4 * (i % sphereCount) + 4);
    origins.set([x - 9, y + r, z], 3 * i);
    directions.set([1, 0, 0], 3 * i);
  }
  return { spheres, origins, directions };
}

/** The distance of f32 numbers at x. */
export const step = (x) => 2 ** (Math.floor(Math.log2(Math.max(Math.abs(x), 2 ** -126))) - 23);

/** Where the records of the corpora of tests/data have their fields; README.md there has the formats. */
const CORPORA = { rays: { radius: 9, t_min: 10, t_max: 11, roots: 48, hit: 91, bit: 2 }, moving: { velocity: 9, radius: 12, t_max: 13, roots: 56, hit: 82, bit: 1 } };

/** A corpus of tests/data, `rays` or `moving`: the columns of pairs of a ray and a sphere, and of each pair its exact roots. */
export function corpus(name = 'rays') {
  const fields = CORPORA[name];
  const bytes = readFileSync(path.join(ROOT, `tests/data/${name}.bin`));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [count, size] = [view.getUint32(12, true), view.getUint32(16, true)];
  const rows = Array.from({ length: count }, (_, i) => 32 + i * size);
  const column = (...places) => Float32Array.from(rows.flatMap((at) => places.map((place) => view.getFloat32(at + 4 * place, true))));
  const three = (first) => [first, first + 1, first + 2];
  return {
    spheres: column(...three(6), fields.radius),
    origins: column(...three(0)),
    directions: column(...three(3)),
    t_max: column(fields.t_max),
    ...(fields.t_min && { t_min: column(fields.t_min) }),
    ...(fields.velocity && { velocities: column(...three(fields.velocity)) }),
    pairs: rows.map((at) => {
      const [enter, exit, gap] = [0, 8, 16].map((offset) => view.getFloat64(at + fields.roots + offset, true));
      const ends = [fields.t_min, fields.t_max].filter(Boolean).map((place) => view.getFloat32(at + 4 * place, true));
      // The chord overlaps the range of the ray, which makes a hit of a solid sphere.
      return {
        ...{ enter, exit, gap, hasRoots: name === 'rays' || view.getUint8(at + 83) !== 3 },
        isHit: (view.getUint8(at + fields.hit) & fields.bit) !== 0,
        // Rounded roots cannot decide there.
        isAtEnd: ends.some((end) => [enter, exit].some((t) => Math.abs(t - end) <= 32 * step(end))),
      };
    }),
  };
}

/** The columns that `umbracast cast` writes for a scene, as bytes. */
export function native({ spheres, origins, directions, t_min, t_max }, query, options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'umbracast-web-'));
  try {
    const [sphereFile, rayFile, out] = ['s.f32', 'r.f32', 'out.npz'].map((name) => path.join(folder, name));
    const rays = new Float32Array((origins.length / 3) * 8);
    for (let i = 0; i < origins.length / 3; i++) {
      rays.set(origins.subarray(3 * i, 3 * i + 3), 8 * i);
      rays.set(directions.subarray(3 * i, 3 * i + 3), 8 * i + 3);
      rays.set([t_min?.[i] ?? 0, t_max?.[i] ?? Infinity], 8 * i + 6);
    }
    writeFileSync(sphereFile, new Uint8Array(spheres.buffer));
    writeFileSync(rayFile, new Uint8Array(rays.buffer));
    execFileSync(COMMAND, ['cast', sphereFile, rayFile, '--device', 'cpu', '--query', query, '-o', out, '--quiet', ...options]);
    return archive(readFileSync(out));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The arrays of an .npz whose entries are not compressed, as bytes. */
function archive(bytes) {
  const found = {};
  // The directory at the end has the sizes.
  let end = bytes.length - 22;
  while (bytes.readUInt32LE(end) !== 0x06054b50) end--;
  let at = bytes.readUInt32LE(end + 16);
  while (bytes.readUInt32LE(at) === 0x02014b50) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const size = bytes.readUInt32LE(at + 24);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const array = bytes.subarray(start, start + size);
    const header = array[6] === 1 ? 10 + array.readUInt16LE(8) : 12 + array.readUInt32LE(8);
    found[bytes.toString('latin1', at + 46, at + 46 + name).replace('.npy', '')] = array.subarray(header);
    at += 46 + name + extra + comment;
  }
  return found;
}
