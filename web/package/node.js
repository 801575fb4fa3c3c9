// The package in Node: the engine runs on the calling thread, on the CPU.
import { readFile } from 'node:fs/promises';
import { load } from './calls.js';
import { createDevice } from './api.js';

export const Device = createDevice({ load: async (options) => load(options.wasm ?? (await readFile(new URL('./wasm/umbracast_bg.wasm', import.meta.url)))) });
export { NO_SPHERE } from './api.js';
