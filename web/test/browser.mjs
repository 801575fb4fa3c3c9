// Chromium with pages of a served folder.
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

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

/** Runs in a page: ends the process of the GPU, which a canvas of WebGPU does on the software adapter. */
export async function loseGpu() {
  const gpu = await (await navigator.gpu.requestAdapter()).requestDevice();
  const canvas = document.createElement('canvas').getContext('webgpu');
  canvas.configure({ device: gpu, format: navigator.gpu.getPreferredCanvasFormat() });
  const encoder = gpu.createCommandEncoder();
  const view = canvas.getCurrentTexture().createView();
  encoder.beginRenderPass({ colorAttachments: [{ view, clearValue: [1, 0, 0, 1], loadOp: 'clear', storeOp: 'store' }] }).end();
  gpu.queue.submit([encoder.finish()]);
  await gpu.lost;
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
