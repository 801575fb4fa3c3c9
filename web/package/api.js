// The classes of the package. They convert arguments, send messages to engines, and split large batches among several of them.

/** Id that stands for "no sphere": the id of a miss. */
export const NO_SPHERE = 0xffff_ffff;

/** Fewest rays for which another worker is asked. */
const PART = 1 << 15;
/** Kinds of errors after which a query is asked again on the CPU engine. Only a GPU causes them. */
const LOST = ['DeviceLost', 'DeviceFailed', 'OutOfMemory', 'TimedOut'];

const POLICIES = ['inside', 'touch', 'ends', 'precision', 'on_bad', 'motion', 'near'];
/** Options that are no columns. */
const SINGLE = [...POLICIES, 'pairwise', 'k', 'bounces', 'body_count', 'width', 'height', 'samples'];
const DEVICE_OPTIONS = ['device', 'precision', 'helpers', 'wasm', 'worker'];
const INTEGERS = ['masks', 'skip_ids', 'from_ids'];
const VECTORS = ['origins', 'directions'];
const ENDS = ['t_min', 't_max'];
/** Columns of rays that one number fills. */
const EACH = [...INTEGERS, 'times', 'ray_radius'];
const RAY_OPTIONS = [...POLICIES, ...ENDS, ...INTEGERS, 'times', 'ray_radius'];
const POINT_OPTIONS = ['precision', 'on_bad', 'masks', 'skip_ids', 'times'];
const BULLET_OPTIONS = ['precision', 'on_bad', 'speeds', 'radii', 'from_ids', 'bounces'];
const SPHERE_OPTIONS = ['masks', 'velocities', 'transmittances', 'semi_axes', 'rotations'];
const SHADOW_OPTIONS = ['polar_radii', 'poles', 'limb_darkening', 'body_count'];
const SCENE_OPTIONS = [...SPHERE_OPTIONS, 'time_range', 'pairwise'];
const ECLIPSE_OPTIONS = ['radii', 'sun_radius'];

/** The buffers of the typed arrays in a value. */
export function buffers(value, found = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(value.buffer);
  else if (value && typeof value === 'object') for (const one of Object.values(value)) buffers(one, found);
  return [...found];
}

/** An address as text, which a worker takes: relative ones are those of the page. Anything else stays. */
export function absolute(address) {
  const text = address?.href ?? address;
  return typeof text === 'string' ? new URL(text, globalThis.document?.baseURI ?? globalThis.location?.href).href : address;
}

/** Whether a buffer has no memory any more, because it was transferred. */
function isGone(buffer) {
  try {
    buffer.slice(0, 0);
    return false;
  } catch {
    return true;
  }
}

/** The arguments of a call that failed, in its error: kept from users, and from what prints errors. */
const ARGS = Symbol('arguments');

/** An error of the library, or one like it. */
function failure({ message, ...more }, args) {
  return Object.defineProperty(Object.assign(new Error(message), more), ARGS, { value: args, configurable: true });
}

const CLOSED = { name: 'Closed', message: 'the device was closed' };

/** An array of numbers as a typed array; with its own memory unless it is `transferred`. */
function column(name, value, transferred, Numbers) {
  const Kind = INTEGERS.includes(name) ? Uint32Array : Numbers;
  if (!Array.isArray(value) && (!ArrayBuffer.isView(value) || value instanceof DataView)) {
    throw new TypeError(`${name} must be a ${Kind.name} or an array of numbers`);
  }
  if (value.buffer && isGone(value.buffer)) throw new TypeError(`${name} was transferred before: its memory is gone`);
  // Shared memory cannot be transferred.
  if (value instanceof Kind) return transferred && value.buffer instanceof ArrayBuffer ? value : value.slice();
  const bad = value.findIndex((x) => typeof x !== 'number' || (Kind === Uint32Array && x >>> 0 !== x));
  if (bad >= 0) throw new TypeError(`${name}[${bad}] is ${value[bad]}: expected ${Kind === Uint32Array ? 'an integer from 0 to 4294967295' : 'a number'}`);
  return Kind.from(value);
}

/** Refuses options with other names. */
function checkNames(call, allowed, options) {
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined) throw new TypeError(`${call}: there is no option ${unknown}; there are ${allowed.join(', ')}`);
}

/** An option that is one word, number or flag. */
function single(name, value) {
  const expected = POLICIES.includes(name) || name === 'device' ? 'string' : name === 'pairwise' ? 'boolean' : 'number';
  if (typeof value !== expected || (expected === 'number' && value >>> 0 !== value)) {
    throw new TypeError(`${name} is ${value}: expected ${expected === 'number' ? 'an integer from 0 to 4294967295' : `a ${expected}`}`);
  }
  return value;
}

/** The arguments of a call: columns become typed arrays, other options stay. */
function argumentsOf(call, allowed, columns, options, Numbers = Float32Array) {
  const { transfer = false, ...given } = options;
  const found = {};
  checkNames(call, [...allowed, 'transfer'], options);
  for (const [name, value] of Object.entries({ ...columns, ...given })) {
    if (value === undefined && !(name in columns)) continue;
    if (ENDS.includes(name) && typeof value === 'number') found[name] = Float32Array.of(value);
    else found[name] = SINGLE.includes(name) ? single(name, value) : column(name, value, transfer, Numbers);
  }
  return found;
}

/** An engine: in a worker, or on this thread. */
class Engine {
  #waiting = new Map();
  #last = 0;
  #send;
  /** Why the engine ended; undefined while it runs. */
  ended;
  isWorker = false;
  /** Why it has no worker, although there are some. */
  reason;

  /** Starts an engine in a worker; on this thread where there are none, or if they are forbidden. */
  static async start({ start, load, wasm, ephemeris }, options) {
    const module = await wasm(options);
    if (start) {
      const engine = new Engine();
      try {
        await engine.#work(start(options), module, ephemeris?.());
        return engine;
      } catch (error) {
        if (!load) throw failure({ name: 'EngineEnded', message: `${error.message}; see "Bundlers" in the README of the package` });
        console.warn(`umbracast: ${error.message}: the engine runs on this thread`);
        return Engine.#onThread(load, module, error.message);
      }
    }
    return Engine.#onThread(load, module);
  }

  static async #onThread(load, module, reason) {
    const engine = new Engine();
    engine.reason = reason;
    const answer = await load(module);
    let idle = Promise.resolve();
    engine.#send = (message) => {
      const done = answer(message).then((found) => engine.#receive(found));
      idle = Promise.all([idle, done]).then(() => {});
    };
    // An object cannot be freed while one of its methods runs.
    engine.#end = () => idle.then(() => answer({ call: 'free' }));
    return engine;
  }

  /** Connects a worker, and waits until it has loaded the module. */
  async #work(worker, wasm, ephemeris) {
    this.#end = () => worker.terminate();
    this.#send = (message) => worker.postMessage(message, buffers(message.args));
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#receive({ dead: true, error: { message: event.message ?? 'the worker could not be loaded' } });
    };
    await this.#ask({ wasm, ephemeris });
    this.isWorker = true;
  }

  #end = () => {};

  /** Ends the engine. Calls without an answer, and later ones, fail. */
  close(error = CLOSED, id = undefined, args = undefined) {
    this.ended ??= error;
    this.#end();
    for (const [other, { reject }] of this.#waiting) reject(failure(error, other === id ? args : undefined));
    this.#waiting.clear();
  }

  #ask(message) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(failure(this.ended));
      this.#waiting.set(id, { resolve, reject });
      this.#send({ ...message, id });
    });
  }

  #receive({ id, value, error, dead, args }) {
    if (dead) return this.close({ name: 'EngineEnded', message: `the engine of umbracast ended: ${error.message}` }, id, args);
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error) reject?.(failure(error, args));
    else resolve?.(value);
  }

  /** Calls a function of the engine, or a method of one of its objects. Buffers of the arguments are transferred. */
  async ask(object, call, ...args) {
    if (buffers(args).some(isGone)) {
      throw failure({ name: 'EngineEnded', message: 'the memory of the arguments is gone, with an engine that ended or with another call: ask again with new arrays' });
    }
    return this.#ask({ object, call, args });
  }
}

/** The name of the adapter, which wgpu does not tell. */
async function adapterName() {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' }).catch(() => undefined);
  const { description, vendor, architecture } = adapter?.info ?? {};
  return description || [vendor, architecture].filter(Boolean).join(' ') || 'WebGPU';
}

/** The class `Device` of an entry of the package, which starts engines by `ways`. */
export function createDevice(ways) {
  return class Device {
    #options;
    #engine;
    #handle;
    #helpers;
    #falling;
    /** Name of the adapter; `cpu` for the CPU engine. */
    name;
    /** Kind of device. */
    kind;
    #isClosed = false;
    /** Why a GPU or a worker was given up; undefined if none was. */
    lost;

    constructor(options) {
      this.#options = options;
    }

    /** Opens a device. */
    static async open(options = {}) {
      const given = typeof options === 'object' ? options : { device: options };
      checkNames('open', DEVICE_OPTIONS, given);
      for (const name of ['device', 'helpers', 'precision']) if (given[name] !== undefined) single(name, given[name]);
      const device = new Device(given);
      try {
        await device.#open(device.#options.device ?? 'auto');
      } catch (error) {
        device.#engine?.close();
        throw error;
      }
      return device;
    }

    async #open(choice) {
      this.#engine = await Engine.start(ways, this.#options);
      if (this.#isClosed) this.#engine.close();
      this.lost ??= this.#engine.reason;
      this.#handle = await this.#engine.ask(0, 'open', choice, { precision: this.#options.precision });
      Object.assign(this, await this.#engine.ask(this.#handle, 'describe'));
      if (!this.isCpu) this.name = await adapterName();
    }

    /** Whether the CPU engine answers. */
    get isCpu() {
      return this.kind === 'CPU engine';
    }

    /** Ends the workers. */
    close() {
      this.#isClosed = true;
      this.#engine.close();
      this.#helpers?.forEach((helper) => helper.then(({ engine }) => engine.close(), () => {}));
    }

    /** Goes on with the CPU engine in a new worker. */
    #fall(engine, error) {
      if (engine === this.#engine) {
        this.#falling ??= (async () => {
          engine.close({ name: 'EngineEnded', message: error.message });
          this.lost = error.message;
          await this.#open('cpu');
          this.#falling = undefined;
        })();
      }
      return this.#falling;
    }

    /** Calls `task(engine, device)`; once more on the CPU engine if the GPU or the engine is lost. */
    async #try(task) {
      await this.#falling;
      const engine = this.#engine;
      try {
        return await task(engine, this.#handle);
      } catch (error) {
        if (this.#isClosed || (!engine.ended && (this.isCpu || !LOST.includes(error.name)))) throw error;
        await this.#fall(engine, error);
        return task(this.#engine, this.#handle, error[ARGS]);
      }
    }

    /** Calls a function of the engine that needs no scene. */
    async ask(call, ...args) {
      return this.#try((engine, device, again) => engine.ask(0, call, ...(again ?? args)));
    }

    /** Calls a function of the engine whose request and answer are JSON, which has no NaN and no infinity. */
    async #json(call, request, options, allowed = ECLIPSE_OPTIONS) {
      checkNames(call, allowed, options);
      const finite = (name, value) => {
        if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}: expected a finite number`);
        return value;
      };
      return JSON.parse(await this.ask(call, JSON.stringify({ ...request, ...options }, finite)));
    }

    /** Solar eclipses of the years from `first` to `last`. */
    async eclipses(first, last, options = {}) {
      return this.#json('eclipses', { first, last }, options, ['radii']);
    }

    /** The solar eclipse of a day, `2027-08-02`. */
    async eclipse(date, options = {}) {
      return this.#json('eclipse', { date }, options);
    }

    /** What places see of the eclipse of a day. */
    async circumstances(date, places, options = {}) {
      return this.#json('circumstances', { date, places }, options);
    }

    /** The lines of the eclipse of a day on the Earth. */
    async map(date, options = {}) {
      return this.#json('map', { date }, options);
    }

    /** Builds a scene. */
    async scene(spheres, options = {}) {
      const input = argumentsOf('scene', SCENE_OPTIONS, { spheres }, options);
      return Scene.build(this.#access(), input);
    }

    /** Renders a system. */
    async render(system, options = {}) {
      const input = argumentsOf('render', ['width', 'height', 'samples'], {}, options);
      const { width, height, data, ...picture } = await this.#try((engine, device, again) =>
        engine.ask(device, 'render', ...(again ?? [typeof system === 'string' ? system : toml(system), input])),
      );
      return { image: typeof ImageData === 'undefined' ? { width, height, data } : new ImageData(data, width, height), ...picture };
    }

    /** Computes how much of a light is visible behind bodies. */
    async visibleFraction(observers, light, light_radius, bodies, radii, options = {}) {
      const columns = { observers, light, light_radius, bodies, radii };
      for (const [name, value] of Object.entries(columns)) if (typeof value === 'number') columns[name] = [value];
      return this.ask('visible_fraction', argumentsOf('visibleFraction', SHADOW_OPTIONS, columns, options, Float64Array));
    }

    /** What a scene needs of its device. */
    #access() {
      return {
        attempt: (task) => this.#try(task),
        helpers: () => this.#start(),
        help: (helper, task) => this.#help(helper, task),
      };
    }

    /** The helper engines, each with its device; none on a GPU, and where there are no workers. */
    #start() {
      if (this.#isClosed || !this.#engine.isWorker || !this.isCpu) return [];
      const count = this.#options.helpers ?? (globalThis.navigator?.hardwareConcurrency ?? 1) - 1;
      const start = async () => {
        const engine = await Engine.start(ways, this.#options);
        return { engine, device: await engine.ask(0, 'open', 'cpu', {}) };
      };
      this.#helpers ??= Array.from({ length: count }, () => {
        const helper = start();
        // A batch may need fewer of them.
        helper.catch(() => {});
        return helper;
      });
      return this.#helpers;
    }

    /** Calls `task(engine, device)` of a helper. A helper that is lost is given up, and the answer is undefined. */
    async #help(helper, task) {
      let engine;
      try {
        const found = await helper;
        engine = found.engine;
        return await task(engine, found.device);
      } catch (error) {
        if (engine && !engine.ended) throw error;
        this.#helpers = this.#helpers.filter((one) => one !== helper);
        if (!this.#isClosed) this.lost ??= error.message;
      }
    }
  };
}

const clone = (input) => Object.fromEntries(Object.entries(input).map(([name, value]) => [name, ArrayBuffer.isView(value) ? value.slice() : value]));

/** Spheres on a device. */
class Scene {
  #device;
  #input;
  /** The scene of each engine that has one. */
  #handles = new Map();
  /** Calls without an answer. */
  #calls = new Set();
  /** The last change, after which queries are answered. */
  #changed = Promise.resolve();
  #isFreed = false;

  static async build(device, input) {
    const scene = new Scene();
    scene.#device = device;
    scene.#input = input;
    await device.attempt((engine, handle) => scene.#of(engine, handle));
    return scene;
  }

  /** Number of spheres. */
  get length() {
    return this.#isFreed ? 0 : this.#input.spheres.length / (this.#input.semi_axes ? 3 : 4);
  }

  /** Calls are answered in turn: a query waits for the changes before it, and a change for all calls before it. */
  async #turn(task, isChange = false) {
    if (this.#isFreed) throw failure({ name: 'Freed', message: 'the scene was freed' });
    const own = (isChange ? Promise.all(this.#calls) : this.#changed).then(task);
    const settled = own.then(() => {}, () => {}).finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);
    if (isChange) this.#changed = settled;
    return own;
  }

  /** The scene on an engine, built at first use. */
  #of(engine, device) {
    let handle = this.#handles.get(engine);
    if (!handle) {
      handle = engine.ask(device, 'scene', clone(this.#input));
      this.#handles.set(engine, handle);
      // Its arguments are not those of the call that needs the scene.
      handle.catch((error) => {
        delete error[ARGS];
        this.#handles.delete(engine);
      });
    }
    return handle;
  }

  /** Frees the scenes of the engines, except of one. */
  #drop(kept) {
    for (const [engine, handle] of this.#handles) {
      if (engine === kept) continue;
      this.#handles.delete(engine);
      handle.then((object) => engine.ended || engine.ask(object, 'free')).catch(() => {});
    }
  }

  /** Frees the memory of the scene. */
  free() {
    this.#turn(() => {
      this.#drop();
      this.#input = undefined;
    }, true).catch(() => {});
    this.#isFreed = true;
  }

  /** Replaces the spheres by as many others. */
  async update(spheres, options = {}) {
    const input = argumentsOf('update', SPHERE_OPTIONS, { spheres }, options);
    return this.#turn(async () => {
      // Ellipsoids that are given as centres keep their shapes, and those with semi-axes have no other rotations than their own.
      const { semi_axes, rotations, ...others } = this.#input;
      const shapes = input.semi_axes || input.rotations || !semi_axes ? {} : { semi_axes, ...(rotations && { rotations }) };
      let current;
      const update = await this.#device.attempt(async (engine, device) => {
        current = engine;
        return engine.ask(await this.#of(engine, device), 'update', clone({ ...shapes, ...input }));
      });
      this.#input = { ...others, ...shapes, ...input };
      this.#drop(current);
      return update;
    }, true);
  }

  /** Calls a method of the scene with arguments. */
  #ask(method, ...args) {
    return this.#device.attempt(async (engine, device, again) => engine.ask(await this.#of(engine, device), method, ...(again ?? args)));
  }

  /** Casts rays: on the GPU, or parts of them on each engine. */
  async #cast(verb, origins, directions, options, more = {}) {
    const given = { ...options };
    const filled = EACH.filter((name) => typeof given[name] === 'number');
    for (const name of filled) given[name] = [given[name]];
    const input = argumentsOf(verb, RAY_OPTIONS, { origins, directions, ...more }, given);
    // One origin or one direction is that of all rays.
    const count = (input.origins.length === 3 ? input.directions : input.origins).length / 3;
    for (const name of filled) input[name] = new input[name].constructor(count).fill(input[name][0]);
    return this.#turn(async () => {
      const isWhole = count < 2 * PART || !fits(input, count) || (this.#input.pairwise && count !== this.length);
      const helpers = isWhole ? [] : this.#device.helpers();
      const parts = Math.min(Math.floor(count / PART), helpers.length + 1);
      if (parts < 2) return this.#ask('cast', verb, input);
      const start = performance.now();
      const size = Math.ceil(count / parts);
      const piece = (i) => part(input, count, i * size, Math.min(count, (i + 1) * size));
      const found = await Promise.allSettled(
        Array.from({ length: parts }, async (_, i) => {
          const ask = async (engine, device) => engine.ask(await this.#of(engine, device), 'cast', verb, piece(i));
          return (i > 0 && (await this.#device.help(helpers[i - 1], ask))) || this.#ask('cast', verb, piece(i));
        }),
      );
      // The first bad ray of all is in the first part that failed, whichever was answered first.
      const failed = found.find(({ status }) => status === 'rejected');
      if (failed) throw failed.reason;
      const joined = join(found.map(({ value }) => value));
      joined.report.seconds = (performance.now() - start) / 1000;
      return joined;
    });
  }

  closest(origins, directions, options = {}) {
    return this.#cast('closest', origins, directions, options);
  }

  interval(origins, directions, options = {}) {
    return this.#cast('interval', origins, directions, options);
  }

  approach(origins, directions, options = {}) {
    return this.#cast('approach', origins, directions, options);
  }

  occluded(origins, directions, options = {}) {
    return this.#cast('occluded', origins, directions, options);
  }

  count(origins, directions, options = {}) {
    return this.#cast('count', origins, directions, options);
  }

  transmittance(origins, directions, options = {}) {
    return this.#cast('transmittance', origins, directions, options);
  }

  all(origins, directions, options = {}) {
    return this.#cast('all', origins, directions, options);
  }

  nearest(k, origins, directions, options = {}) {
    return this.#cast('nearest', origins, directions, options, { k });
  }

  async contains(points, options = {}) {
    const input = argumentsOf('contains', POINT_OPTIONS, { points }, options);
    return this.#turn(() => this.#ask('contains', input));
  }

  async bullets(starts, targets, options = {}) {
    const input = argumentsOf('bullets', BULLET_OPTIONS, { starts, targets }, options);
    return this.#turn(() => this.#ask('bullets', input));
  }
}

/** A system as the text of a system file. Strings and lists of JSON are those of TOML. */
function toml(system) {
  const text = (value) => {
    if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value, text).join(', ')}]`;
    if (typeof value === 'number') {
      // An integer of TOML has 64 bits.
      const digits = Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
      return digits.replace('Infinity', 'inf').replace('NaN', 'nan');
    }
    if (value && typeof value === 'object') return `{${pairs(value).join(', ')}}`;
    return JSON.stringify(value);
  };
  const pairs = (table) => Object.entries(table).flatMap(([key, value]) => (value == null ? [] : [`${JSON.stringify(key)} = ${text(value)}`]));
  return pairs(system).join('\n');
}

/** How many numbers of a column belong to a ray. */
const widthOf = (name) => (VECTORS.includes(name) ? 3 : 1);

/** Whether each column has an entry per ray, or one for all rays where the engine takes it. It refuses the others. */
function fits(input, count) {
  return Object.entries(input).every(([name, value]) => {
    if (!ArrayBuffer.isView(value)) return true;
    const rows = value.length / widthOf(name);
    return rows === count || (rows === 1 && [...VECTORS, ...ENDS].includes(name));
  });
}

/** The rays from `start` to `end`, with their numbers. */
function part(input, count, start, end) {
  const found = { first: start };
  for (const [name, value] of Object.entries(input)) {
    const width = widthOf(name);
    const split = ArrayBuffer.isView(value) && value.length === count * width;
    found[name] = split ? value.slice(start * width, end * width) : ArrayBuffer.isView(value) ? value.slice() : value;
  }
  return found;
}

/** Joins the results of parts. */
function join(parts) {
  const found = {};
  for (const name of Object.keys(parts[0])) {
    if (name === 'report') {
      found.report = parts.map((one) => one.report).reduce((sum, one) => {
        const next = { ...sum };
        for (const key of Object.keys(one)) if (typeof one[key] === 'number') next[key] += one[key];
        return next;
      });
      continue;
    }
    const isOffsets = name === 'offsets';
    const arrays = parts.map((one, i) => (isOffsets && i > 0 ? one[name].subarray(1) : one[name]));
    const all = new arrays[0].constructor(arrays.reduce((sum, one) => sum + one.length, 0));
    let at = 0;
    let base = 0;
    for (const one of arrays) {
      all.set(isOffsets && base > 0 ? one.map((offset) => offset + base) : one, at);
      at += one.length;
      base = isOffsets ? all[at - 1] : 0;
    }
    found[name] = all;
  }
  return found;
}
