// Visible fractions have their true values, and pictures are those of the command line.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { serve } from '../serve.mjs';
import { PAGE, launch, open, titled } from './browser.mjs';
import { COMMAND, ROOT } from './scenes.mjs';
import { Device } from '../package/node.js';

const SYSTEM = path.join(ROOT, 'systems/umbra-2024-04-08.toml');
const SIZE = { width: 96, height: 54, samples: 1 };

test('visible fractions are those of the reference', async () => {
  const [names, ...rows] = readFileSync(path.join(ROOT, 'tests/data/sphere_overlap.csv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const columns = (...asked) => rows.flatMap((row) => asked.map((name) => Number(row[names.indexOf(name)])));
  const device = await Device.open();
  const found = await device.visibleFraction(
    columns('obs_x', 'obs_y', 'obs_z'),
    columns('src_x', 'src_y', 'src_z'),
    columns('src_r'),
    columns('occ_x', 'occ_y', 'occ_z'),
    columns('occ_r'),
    { body_count: 1 },
  );
  columns('visible_fraction').forEach((fraction, i) => assert.ok(Math.abs(found.fraction[i] - fraction) < 1e-9, `row ${i}`));
});

test('systems have numbers of any size', async () => {
  const device = await Device.open();
  const system = { unit: 'm', light: { center: [0, 0, 1e20], radius: 2 ** 60 }, body: [{ center: [0, 0, 0], radius: 2 ** 53 }] };
  assert.equal((await device.render(system, { width: 4, height: 3, samples: 1 })).t.length, 12);
});

test('pictures are those of the command line', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'umbracast-web-'));
  const server = await serve(path.join(ROOT, 'web/package'), { texts: PAGE });
  const browser = await launch(true);
  try {
    const files = Object.fromEntries(['t', 'id', 'fraction'].map((name) => [name, path.join(folder, `${name}.npy`)]));
    const options = Object.entries(files).flatMap(([name, file]) => [`--${name}`, file]);
    execFileSync(COMMAND, ['render', SYSTEM, '-o', path.join(folder, 'x.png'), '--device', 'cpu', '--size', '96x54', '--samples', '1', '--quiet', ...options]);
    const numbers = (name, Kind) => {
      const bytes = readFileSync(files[name]);
      return new Kind(Uint8Array.from(bytes.subarray(10 + bytes.readUInt16LE(8))).buffer);
    };
    const native = { t: numbers('t', Float32Array), id: numbers('id', Uint32Array), fraction: numbers('fraction', Float32Array) };
    const own = await (await Device.open()).render(readFileSync(SYSTEM, 'utf8'), SIZE);
    assert.deepEqual(own.id, native.id);
    // Sines of the systems' libraries differ in the last bit of f64.
    const close = (a, b, bound) => a === b || Math.abs(a - b) <= bound * Math.max(1, Math.abs(b));
    native.t.forEach((t, i) => assert.ok(close(own.t[i], t, 1e-7), `t of pixel ${i}`));
    native.fraction.forEach((fraction, i) => assert.ok(close(own.fraction[i], fraction, 1e-6), `fraction of pixel ${i}`));

    const page = await open(browser, server);
    await titled(page, 'ready');
    const drawn = await page.evaluate(
      async ({ text, size }) => {
        const device = await umbracast.Device.open('gpu');
        const { image } = await device.render(text, size);
        if (!(image instanceof ImageData)) throw new Error('no ImageData');
        return { kind: device.kind, data: [...image.data] };
      },
      { text: readFileSync(SYSTEM, 'utf8'), size: SIZE },
    );
    assert.equal(drawn.kind, 'software');
    const differs = drawn.data.filter((value, i) => Math.abs(value - own.image.data[i]) > 1).length;
    assert.ok(differs <= 0.002 * drawn.data.length, `${differs} of ${drawn.data.length} values differ by more than a step`);
    assert.deepEqual(page.faults, []);
  } finally {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
