// The engine of the eclipses: a worker of the package with the WebAssembly module. A call that fails rejects with the library's message.

let worker = null;
let last = 0;
let tell = {};
const waiting = new Map();

/** Starts the engine. `status` shows a line that names it, `lost` a sentence if it cannot go on. */
export function start({ status, lost }) {
  tell = { status, lost };
  open();
}

function open() {
  worker = new Worker(new URL('./package/worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => {
    if (data.dead) { ended(data.error?.message); return; }
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) asked?.reject(new Error(data.error.message)); else asked?.resolve(data.value);
  };
  worker.onerror = event => { event.preventDefault(); ended(event.message ?? 'the file of the engine could not be read'); };
  // The first message loads the module.
  send({}).then(() => tell.status('Engine: WebAssembly on the CPU, in a worker.'), () => {});
}

let restarts = 0;

/** The engine has ended. What was asked is asked again of another one; after three of them, nothing can go on. */
function ended(why = 'unknown reason') {
  worker.terminate();
  const open_ = [...waiting.values()];
  waiting.clear();
  if (++restarts > 3) {
    tell.status('No engine.');
    tell.lost(`The engine could not go on (${why}). Reload the page to start it again; the command line of umbracast computes the same.`);
    for (const one of open_) one.reject(new Error(why));
    return;
  }
  tell.status('The engine ended and is being started again …');
  open();
  for (const one of open_) if (one.message.call) send(one.message).then(one.resolve, one.reject);
}

function send(message) {
  return new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject, message });
    worker.postMessage({ ...message, id });
  });
}

/** Calls a function of the engine with a request, a plain object. Its answer is a plain object too, or a typed array. */
export async function call(name, request) {
  const value = await send({ call: name, args: request === undefined ? [] : [JSON.stringify(request)] });
  return typeof value === 'string' && !TEXTS.has(name) ? JSON.parse(value) : value;
}

/** Calls whose answers are the texts of files. */
const TEXTS = new Set(['geojson', 'kml']);
