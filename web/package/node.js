// The package in Node: the engine runs on the calling thread, on the CPU.
import { readFile } from 'node:fs/promises';
import { createDevice } from './api.js';
import { load } from './calls.js';

export const Device = createDevice({
  wasm: ({ wasm = new URL('./wasm/umbracast_bg.wasm', import.meta.url) }) => {
    const address = wasm.href ?? wasm;
    // An address of the web is fetched.
    if (typeof address !== 'string' || /^https?:/.test(address)) return wasm;
    return readFile(address.startsWith('file:') ? new URL(address) : address);
  },
  load: (wasm) => load(wasm, () => readFile(new URL('./wasm/ephemeris.bin', import.meta.url))),
});
export { NO_SPHERE } from './api.js';
