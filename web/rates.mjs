// Measures the module in Chromium: millions of rays per second, in one worker and in one worker per core; the best of five casts. With a
// folder as argument, it also writes the scenes there, for `umbracast bench scenes`.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { serve } from './serve.mjs';
import { PAGE, launch, open, titled } from './test/browser.mjs';
import { ROOT, random } from './test/scenes.mjs';

const RAYS = 1_000_000;

function scene(count) {
  const next = random(7);
  const spheres = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 3 ? 0.05 + 0.05 * next() : 20 * next() - 10));
  const rays = new Float32Array(8 * RAYS);
  for (let i = 0; i < RAYS; i++) {
    const origin = [0, 1, 2].map(() => 30 * next() - 15);
    rays.set([...origin, ...origin.map((x) => 20 * next() - 10 - x), 0, Infinity], 8 * i);
  }
  return { spheres, rays };
}

const texts = { ...PAGE };
const server = await serve(path.join(ROOT, 'web/package'), { texts });
const browser = await launch();
const page = await open(browser, server);
await titled(page, 'ready');
for (const count of [1000, 10_000, 100_000]) {
  const { spheres, rays } = scene(count);
  if (process.argv[2]) {
    for (const [kind, numbers] of Object.entries({ spheres, rays })) {
      writeFileSync(path.join(process.argv[2], `web-${count}.${kind}`), new Uint8Array(numbers.buffer));
    }
  }
  for (const [name, numbers] of Object.entries({ spheres, rays })) texts[`/${name}.bin`] = Buffer.from(numbers.buffer);
  for (const helpers of [0, undefined]) {
    const found = await page.evaluate(async (helpers) => {
      const [spheres, rays] = await Promise.all(
        ['spheres', 'rays'].map(async (name) => new Float32Array(await (await fetch(`/${name}.bin`)).arrayBuffer())),
      );
      const columns = [0, 3].map((from) => Float32Array.from({ length: (rays.length / 8) * 3 }, (_, i) => rays[8 * Math.floor(i / 3) + from + (i % 3)]));
      const device = await umbracast.Device.open({ device: 'cpu', ...(helpers === undefined ? {} : { helpers }) });
      const scene = await device.scene(spheres);
      const rates = {};
      for (const query of ['closest', 'occluded']) {
        // Without, and with the copies to the worker and back.
        const [own, whole] = [[], []];
        for (let i = 0; i < 5; i++) {
          const start = performance.now();
          own.push((await scene[query](...columns)).report.seconds);
          whole.push((performance.now() - start) / 1000);
        }
        rates[query] = [own, whole].map((seconds) => (rays.length / 8e6 / Math.min(...seconds)).toFixed(2));
      }
      device.close();
      return rates;
    }, helpers);
    console.log(`${count} spheres, ${helpers === 0 ? 'one worker' : 'all cores'}: closest ${found.closest.join(', ')}; occluded ${found.occluded.join(', ')}`);
  }
}
await browser.close();
server.close();
