// The package in Node: the engine runs on the calling thread, on the CPU.
import { readFile } from 'node:fs/promises';
import { createDevice } from './api.js';
import { load } from './calls.js';

export const Device = createDevice({
  wasm: (options) => options.wasm ?? readFile(new URL('./wasm/umbracast_bg.wasm', import.meta.url)),
  load: (wasm) => load(wasm, () => readFile(new URL('./wasm/ephemeris.bin', import.meta.url))),
});
export { NO_SPHERE } from './api.js';
