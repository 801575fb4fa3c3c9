// The package as its users get it: packed, installed in an empty project, and bundled.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { POLICY, serve } from '../serve.mjs';
import { launch, open, titled } from './browser.mjs';
import { ROOT } from './scenes.mjs';

const PACKAGE = path.join(ROOT, 'web/package');
const TOOLS = path.join(ROOT, 'web/node_modules/.bin');
const read = (file) => readFileSync(file, 'utf8');
const README = read(path.join(PACKAGE, 'README.md'));
/** The program of the README, and what it says that it prints. */
const PROGRAM = /```js\n([^]*?)```/.exec(README)[1];
const PRINTED = [...[...PROGRAM.matchAll(/console\.log\(.*; \/\/ (.*)/g)].map((match) => match[1]), 'total'];
const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>example</title><script type="module" src="/main.js"></script>';
/** Prints the kind of an eclipse, for which the ephemeris is loaded. */
const ECLIPSE = "console.log((await (await Device.open('cpu')).eclipse('2027-08-02')).eclipse.kind);\n";
/** Both programs as a page: what they print is kept. */
const page = (entry) => `window.printed = [];
console.log = (...words) => window.printed.push(words.join(' '));
${PROGRAM.replace("'umbracast'", `'${entry}'`)}${ECLIPSE}document.title = 'done';\n`;

let project, archive, browser;
before(async () => {
  project = mkdtempSync(path.join(tmpdir(), 'umbracast-package-'));
  archive = path.join(project, execFileSync('npm', ['pack', '--silent', '--pack-destination', project], { cwd: PACKAGE, encoding: 'utf8' }).trim());
  writeFileSync(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', archive], { cwd: project });
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(project, { recursive: true });
});

/** Opens a served folder, and checks what the program prints. */
async function prints(folder, options) {
  const server = await serve(folder, options);
  try {
    await printsAt(server);
  } finally {
    server.close();
  }
}

async function printsAt(server) {
  const shown = await open(browser, server);
  await titled(shown, 'done');
  assert.deepEqual(await shown.evaluate('window.printed'), PRINTED);
  assert.deepEqual(shown.faults, []);
  await shown.close();
}

test('the version is that of the crate', () => {
  const version = /^version = "(.*)"/m.exec(read(path.join(ROOT, 'Cargo.toml')))[1];
  assert.equal(JSON.parse(read(path.join(PACKAGE, 'package.json'))).version, version);
  assert.ok(README.trimEnd().split('\n').length <= 60, 'the README is short');
});

test('the program of the README runs in Node', () => {
  assert.ok(PRINTED.length > 2);
  writeFileSync(path.join(project, 'readme.js'), PROGRAM + ECLIPSE);
  const printed = execFileSync(process.execPath, ['readme.js'], { cwd: project, encoding: 'utf8' });
  assert.deepEqual(printed.trim().split('\n'), PRINTED);
});

test('a page without a bundler loads the package', async () => {
  await prints(project, { texts: { '/': HTML, '/main.js': page('/node_modules/umbracast/index.js') } });
});

test('vite builds and serves it', async () => {
  const { build, createServer } = await import('vite');
  const root = path.join(project, 'vite');
  mkdirSync(root);
  writeFileSync(path.join(root, 'index.html'), HTML);
  writeFileSync(path.join(root, 'main.js'), page('umbracast'));
  await build({ root, logLevel: 'error', build: { target: 'es2022' } });
  await prints(path.join(root, 'dist'));
  // Its development server tells pages its port, which cannot be 0.
  const free = await serve(root);
  free.close();
  const server = await createServer({ root, logLevel: 'error', server: { host: '127.0.0.1', port: Number(new URL(free.origin).port) } });
  await server.listen();
  try {
    await printsAt(free);
  } finally {
    await server.close();
  }
});

test('esbuild bundles the inline entry', async () => {
  const { build } = await import('esbuild');
  const out = path.join(project, 'esbuild');
  writeFileSync(path.join(project, 'inline.js'), page('umbracast/inline'));
  await build({ entryPoints: [path.join(project, 'inline.js')], bundle: true, format: 'esm', outfile: path.join(out, 'main.js'), logLevel: 'error' });
  await prints(out, { texts: { '/': HTML }, policy: POLICY.replace("worker-src 'self'", 'worker-src blob:') });
});

test('without workers the inline entry runs on the calling thread', async () => {
  await prints(project, { texts: { '/': HTML, '/main.js': `window.Worker = undefined;\n${page('/node_modules/umbracast/inline.js')}` } });
});

test('addresses are those of the page, and in Node those of files', async (t) => {
  const policy = POLICY.replace("worker-src 'self'", "worker-src 'self' blob:");
  const server = await serve(PACKAGE, { texts: { '/wasm/': HTML, '/main.js': '' }, policy });
  t.after(() => server.close());
  const shown = await open(browser, server, '/wasm/');
  const found = await shown.evaluate(async () => {
    const found = [], { createObjectURL } = URL;
    let made = 0;
    URL.createObjectURL = (blob) => (made++, createObjectURL.call(URL, blob));
    for (const entry of ['/index.js', '/inline.js']) {
      const { Device } = await import(entry);
      const name = 'umbracast_bg.wasm';
      const url = new URL(name, location.href);
      for (const options of [{ wasm: name }, { wasm: `/wasm/${name}` }, { wasm: url }, { wasm: { href: url.href } }, { worker: { href: '../worker.js' } }]) {
        const device = await Device.open({ device: 'cpu', ...options }).catch((error) => error);
        found.push(device.lost ?? device.message ?? device.kind);
        device.close?.();
      }
    }
    return [...found, made];
  });
  await shown.close();
  // The inline entry makes one address for all its workers.
  assert.deepEqual(found, [...Array(10).fill('CPU engine'), 1]);
  // A process has one module.
  for (const wasm of ['fileURLToPath(file)', 'file', 'new URL(file)', 'readFileSync(new URL(file))']) {
    const program = `import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Device } from 'umbracast';
const file = import.meta.resolve('umbracast/umbracast_bg.wasm');
console.log((await Device.open({ wasm: ${wasm} })).kind);`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, encoding: 'utf8', stdio: 'pipe' });
    assert.equal(printed, 'CPU engine\n', wasm);
  }
});

test('TypeScript accepts correct programs, and no others', () => {
  writeFileSync(
    path.join(project, 'types.ts'),
    `import { Device, type HitLists, type ClosestColumns } from 'umbracast';
const device = await Device.open({ device: 'cpu', helpers: 2 });
const scene = await device.scene([0, 0, 0, 1], { masks: Uint32Array.of(1) });
const hits: ClosestColumns = await scene.closest([0, 0, 5], [0, 0, -1], { t_max: 9, transfer: true });
const lists: HitLists = await scene.nearest(2, [0, 0, 5], [0, 0, -1]);
// @ts-expect-error: no such policy
await scene.closest([0, 0, 5], [0, 0, -1], { touch: 'never' });
// @ts-expect-error: bytes are no coordinates
await scene.occluded(new Uint8Array(3), [0, 0, -1]);
console.log(hits.t[0], lists.offsets.length, (await device.eclipse('2027-08-02')).eclipse.greatest);
`,
  );
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '', '--ignoreConfig'];
  for (const module of ['nodenext', 'preserve']) {
    execFileSync(path.join(TOOLS, 'tsc'), [...options, '--module', module, 'types.ts'], { cwd: project, encoding: 'utf8', stdio: 'pipe' });
  }
  // Node has no types of browsers.
  writeFileSync(path.join(project, 'node.ts'), "import { Device, type Picture } from 'umbracast';\nexport const width = (picture: Picture): number => picture.image.width;\nawait Device.open({ wasm: new Uint8Array(8) });\n");
  const bare = options.map((one) => (one === 'es2022,dom' ? 'es2022' : one));
  execFileSync(path.join(TOOLS, 'tsc'), [...bare, '--module', 'nodenext', 'node.ts'], { cwd: project, encoding: 'utf8', stdio: 'pipe' });
});

test('publint and attw find nothing', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: PACKAGE, strict: true });
  assert.deepEqual(messages, []);
  const entries = ['./umbracast_bg.wasm', './ephemeris.bin', './worker.js', './package.json'];
  execFileSync(path.join(TOOLS, 'attw'), [archive, '--profile', 'esm-only', '--exclude-entrypoints', ...entries], { encoding: 'utf8', stdio: 'pipe' });
});

test('the types have the keys of the answers', async () => {
  const { Device } = await import('../package/node.js');
  const device = await Device.open();
  const scene = await device.scene([5, 0, 0, 1]);
  const rays = [[0, 0, 0], [1, 0, 0]];
  const types = read(path.join(PACKAGE, 'index.d.ts')) + read(path.join(PACKAGE, 'records.d.ts'));
  const keys = (name) => {
    const found = new RegExp(`interface ${name}(?: extends ([^{]*))? {\n([^]*?)\n}`).exec(types);
    const own = [...found[2].matchAll(/^  (?:readonly )?(\w+)\??:/gm)].map((match) => match[1]);
    return [...own, ...(found[1]?.split(', ').flatMap((one) => keys(one.trim())) ?? [])];
  };
  const answers = {
    Update: await scene.update([5, 0, 0, 1]),
    HitLists: await scene.all(...rays),
    Flights: await scene.bullets(...rays),
    ContainsColumns: await scene.contains([5, 0, 0]),
    Picture: await device.render({ unit: 'm', light: { center: [0, 0, 9], radius: 1 }, body: [{ center: [0, 0, 0], radius: 1 }] }, { width: 4, height: 3, samples: 1 }),
    Shadows: await device.visibleFraction([-9, 0, 0], [99, 0, 0], 10, [0, 0, 0], 1),
  };
  for (const query of ['closest', 'interval', 'approach', 'occluded', 'count', 'transmittance']) {
    answers[`${query[0].toUpperCase()}${query.slice(1)}Columns`] = await scene[query](...rays);
  }
  answers.Report = answers.ClosestColumns.report;
  for (const [name, { report, ...answer }] of Object.entries(answers)) {
    assert.deepEqual(Object.keys(answer).sort(), keys(name).filter((key) => key !== 'report').sort(), name);
  }
});
