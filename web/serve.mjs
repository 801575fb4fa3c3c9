// Serves a folder of static files, with the Content-Security-Policy under which the page works: node serve.mjs FOLDER [PORT]
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.json': 'application/json', '.svg': 'image/svg+xml', '.wasm': 'application/wasm', '.png': 'image/png', '.csv': 'text/csv; charset=utf-8',
};
/** Nothing from elsewhere, and no code but that of the page's files and of WebAssembly. */
export const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' blob: data:; style-src 'self'; frame-ancestors 'none'";

/** The path of a request; `undefined` if its escapes are invalid. */
function pathOf(request) {
  try {
    return normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
  } catch {
    return undefined;
  }
}

/** Serves a folder, and texts by their paths, on a port of this computer; 0 takes any free one. */
export async function serve(folder, { port = 0, texts = {}, policy = POLICY } = {}) {
  const root = resolve(folder) + sep;
  const server = createServer(async (request, response) => {
    const path = pathOf(request);
    const file = path && join(root, path.endsWith('/') ? `${path}index.html` : path);
    const text = texts[path];
    const known = text === undefined && file?.startsWith(root) ? await stat(file).catch(() => null) : null;
    if (text === undefined && !known?.isFile()) { response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n'); return; }
    const headers = {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Length': known?.size ?? Buffer.byteLength(text),
      'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
    };
    if (policy) headers['Content-Security-Policy'] = policy;
    response.writeHead(200, headers);
    if (text === undefined) createReadStream(file).pipe(response);
    else response.end(text);
  });
  await new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', done);
  });
  return { origin: `http://localhost:${server.address().port}`, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, port = '8080'] = process.argv.slice(2);
  const fail = message => {
    console.error(message);
    process.exit(1);
  };
  if (!folder) fail('usage: node serve.mjs FOLDER [PORT]');
  if (!existsSync(join(folder, 'index.html'))) fail(`${folder} has no index.html: web/serve.sh --build makes web/dist`);
  if (!(Number(port) < 65536) || !/^\d+$/.test(port)) fail(`port '${port}': expected a number from 0 to 65535`);
  const server = await serve(folder, { port: Number(port) })
    .catch(error => fail(error.code === 'EADDRINUSE' ? `port ${port} is in use: give another one` : error.message));
  console.log(`${server.origin}/`);
}
