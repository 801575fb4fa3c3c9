// The package in a browser: the engine runs in a worker.
import { load } from './calls.js';
import { createDevice } from './api.js';

/** Starts an engine in a worker of its own. */
function start({ wasm, worker }) {
  // Bundlers recognise these very words.
  return worker
    ? new Worker(worker, { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

export const Device = createDevice({ start, load: (options) => load(options.wasm ?? new URL('./wasm/umbracast_bg.wasm', import.meta.url)) });
export { NO_SPHERE } from './api.js';
