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

/** The corpus tests/data/rays.bin: pairs of a ray and a sphere, and the exact roots. */
export function corpus() {
  const bytes = readFileSync(path.join(ROOT, 'tests/data/rays.bin'));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [count, size] = [view.getUint32(12, true), view.getUint32(16, true)];
  const found = { spheres: [], origins: [], directions: [], t_min: [], t_max: [], roots: [] };
  for (let i = 0; i < count; i++) {
    const at = 32 + i * size;
    const floats = Array.from({ length: 12 }, (_, k) => view.getFloat32(at + 4 * k, true));
    found.origins.push(...floats.slice(0, 3));
    found.directions.push(...floats.slice(3, 6));
    found.spheres.push(...floats.slice(6, 10));
    found.t_min.push(floats[10]);
    found.t_max.push(floats[11]);
    found.roots.push({ enter: view.getFloat64(at + 48, true), exit: view.getFloat64(at + 56, true), flags: view.getUint8(at + 91) });
  }
  for (const name of ['spheres', 'origins', 'directions', 't_min', 't_max']) found[name] = Float32Array.from(found[name]);
  return found;
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
