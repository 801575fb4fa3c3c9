// The package in a browser: the engine runs in a worker.
import { absolute, createDevice } from './api.js';

export const Device = createDevice({
  wasm: (options) => absolute(options.wasm),
  start: (options) =>
    options.worker
      ? new Worker(absolute(options.worker), { type: 'module' })
      : // Bundlers recognise these very words.
        new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
});
export { NO_SPHERE } from './api.js';
