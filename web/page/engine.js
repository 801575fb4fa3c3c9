// The engine of the eclipses: a device of the package, in a worker of its own. A call that fails rejects with the library's message.

import { Device } from './package/index.js';

let device;

/** Starts the engine. `status` shows a line that names it. */
export async function start(status) {
  device = Device.open('cpu');
  await device;
  status('Engine: CPU in WebAssembly, in a worker.');
}

/** Calls whose answers are the texts of files. */
const TEXTS = ['geojson', 'kml'];

/** Calls a function of the engine. Its request and its answer are JSON, or a text or a typed array. */
export async function call(name, request) {
  const args = request === undefined ? [] : [typeof request === 'string' ? request : JSON.stringify(request)];
  const value = await (await device).ask(name, ...args);
  return typeof value === 'string' && !TEXTS.includes(name) ? JSON.parse(value) : value;
}
