// Serves a folder of static files, with the Content-Security-Policy under which the page works: node serve.mjs FOLDER [PORT]
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.wasm': 'application/wasm', '.png': 'image/png', '.csv': 'text/csv; charset=utf-8',
};
/** Nothing from elsewhere, and no code but that of the page's files and of WebAssembly. */
export const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src 'self' blob: data:; frame-ancestors 'none'";

/** Serves `folder` on a port of this computer; 0 takes any free one. */
export function serve(folder, port = 0) {
  const root = resolve(folder);
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = join(root, path.endsWith('/') ? `${path}index.html` : path);
    const known = file.startsWith(root) && await stat(file).catch(() => null);
    if (!known || !known.isFile()) { response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n'); return; }
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Length': known.size, 'Cache-Control': 'no-cache',
      'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, port = '8080'] = process.argv.slice(2);
  const server = await serve(folder, Number(port)).catch(error => {
    console.error(error.code === 'EADDRINUSE' ? `port ${port} is in use: give another one` : error.message);
    process.exit(1);
  });
  console.log(`http://localhost:${server.address().port}/`);
}
