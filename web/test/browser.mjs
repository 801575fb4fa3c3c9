// A server for folders, and Chromium with pages of it.
import { createReadStream, existsSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
};
/** The policy that pages of the project keep. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' blob: data:; style-src 'self'";

/** Serves a folder, and texts by their paths. */
export async function serve(folder, { texts = {}, policy = POLICY } = {}) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url.split('?')[0]);
    const file = path.join(folder, name.endsWith('/') ? `${name}index.html` : name);
    const headers = { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' };
    if (policy) headers['Content-Security-Policy'] = policy;
    if (texts[name] !== undefined) response.writeHead(200, headers).end(texts[name]);
    else if (!file.startsWith(folder) || !existsSync(file) || statSync(file).isDirectory()) response.writeHead(404).end();
    else createReadStream(file).pipe(response.writeHead(200, headers));
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Starts Chromium, with WebGPU on its software adapter, or without an adapter. */
export function launch(webgpu = false) {
  const quiet = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  const gpu = webgpu ? ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'] : [];
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...quiet, ...gpu] });
}

/** Text before the worker's own: `navigator.gpu` is missing, or throws as in Firefox with a blocked driver. */
export const CUTS = {
  absent: 'delete WorkerNavigator.prototype.gpu;',
  throws: "GPU.prototype.requestAdapter = async () => { throw new TypeError('blocklisted'); };",
};

/** Opens a page. Errors of the console and requests to other places are collected in `page.faults`. */
export async function open(browser, { origin }, address = '/', cut = undefined) {
  const page = await browser.newPage();
  page.faults = [];
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) page.faults.push(`request of ${url}`);
  });
  if (cut) {
    await page.route('**/worker.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: cut + (await response.text()) });
    });
  }
  await page.goto(origin + address);
  return page;
}

/** Waits until a page has a title. Playwright's own way evaluates text, which the policy forbids. */
export async function titled(page, title) {
  for (const end = Date.now() + 30_000; (await page.title()) !== title; ) {
    if (Date.now() > end) throw new Error(`the page is never ${title}: ${page.faults.join('; ')}`);
    await page.waitForTimeout(20);
  }
}

/** A page that has the package as `window.umbracast`. */
export const PAGE = {
  '/': '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>test</title><script type="module" src="/main.js"></script>',
  '/main.js': "import * as umbracast from '/index.js'; window.umbracast = umbracast; document.title = 'ready';",
};
