// Writes web/package/inline.js, the entry of the package that has the worker and the module within it.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const folder = new URL('./package/', import.meta.url).pathname;
const { outputFiles } = await build({
  entryPoints: [`${folder}worker.js`],
  bundle: true,
  format: 'iife',
  // The module always comes with the first message.
  define: { 'import.meta.url': '"blob:"' },
  minify: true,
  target: 'es2022',
  write: false,
});
const ephemeris = readFileSync(`${folder}wasm/ephemeris.bin`).toString('base64');
const wasm = gzipSync(readFileSync(`${folder}wasm/umbracast_bg.wasm`), { level: 9 }).toString('base64');
writeFileSync(
  `${folder}inline.js`,
  `// Written by web/inline.mjs. The package in a browser, without files to load: the worker and the module are in this file.
import { absolute, createDevice } from './api.js';
import { load } from './calls.js';

const WORKER = ${JSON.stringify(outputFiles[0].text)};
const WASM = '${wasm}';
const EPHEMERIS = '${ephemeris}';

const blob = (text) => new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
let unpacked, own;
const unpack = async () => {
  const stream = blob(WASM).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
};

export const Device = createDevice({
  wasm: (options) => absolute(options.wasm) ?? (unpacked ??= unpack()),
  ephemeris: () => blob(EPHEMERIS),
  start: (options) => {
    const address = absolute(options.worker) ?? (own ??= URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' })));
    return new Worker(address, options.worker ? { type: 'module' } : {});
  },
  load: (wasm) => load(wasm, () => blob(EPHEMERIS).arrayBuffer()),
});
export { NO_SPHERE } from './api.js';
`,
);
