// The engine gives the bytes of the command line, in Node and in a browser, on the CPU and on WebGPU.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { serve } from '../serve.mjs';
import { CUTS, PAGE, launch, loseGpu, open, titled } from './browser.mjs';
import { ROOT, corpus, cube, native, step } from './scenes.mjs';
import { Device, NO_SPHERE } from '../package/node.js';

const QUERIES = ['closest', 'interval', 'approach', 'occluded', 'count', 'all', 'nearest'];
const LARGE = cube(10_000, 100_000);
const SMALL = cube(1000, 3000);

let server;
before(async () => {
  server = await serve(path.join(ROOT, 'web/package'), { texts: PAGE });
});
after(() => server.close());

/** A page of the package; `run(function, argument)` evaluates there. Every fault fails the test. */
async function inBrowser({ webgpu = false, cut }, task) {
  const browser = await launch(webgpu);
  try {
    const page = await open(browser, server, '/', cut);
    await titled(page, 'ready');
    await task(page);
    assert.deepEqual(page.faults, []);
  } finally {
    // Chromium whose GPU process has died may not close.
    await Promise.race([browser.close(), new Promise((done) => setTimeout(done, 5000))]);
  }
}

/** Runs in the page: answers queries about a scene, as arrays of bytes. */
async function ask({ device: choice, input, calls, lose }) {
  const device = (window.device = await umbracast.Device.open(choice));
  const decoded = Object.fromEntries(
    Object.entries(input).map(([name, text]) => [name, new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer)]),
  );
  const { spheres, origins, directions, ...ends } = decoded;
  const scene = await device.scene(spheres, { pairwise: calls.some(({ pairwise }) => pairwise) });
  const first = device.kind;
  if (lose) await window.lose();
  const found = [];
  for (const { query } of calls) {
    const rays = [origins, directions, { ...ends }];
    const { report, ...columns } = await (query === 'nearest' ? scene.nearest(3, ...rays) : scene[query](...rays));
    const texts = {};
    for (const [name, column] of Object.entries(columns)) {
      const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
      let text = '';
      for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
      texts[name] = btoa(text);
    }
    found.push({ columns: texts, report });
  }
  return { first, kind: device.kind, name: device.name, lost: device.lost, found };
}

const encode = (input) =>
  Object.fromEntries(['spheres', 'origins', 'directions', 't_min', 't_max'].filter((name) => input[name]).map((name) => [name, Buffer.from(input[name].buffer).toString('base64')]));

/** Compares columns with those of the command line. Offsets of lists have 64 bits there. */
function equal(found, expected, what) {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort(), what);
  for (const [name, bytes] of Object.entries(found)) {
    const other = name === 'offsets' ? narrow(expected[name]) : expected[name];
    assert.ok(Buffer.compare(bytes, other) === 0, `${what}: ${name} differs`);
  }
}

function narrow(bytes) {
  const found = Buffer.alloc(bytes.length / 2);
  for (let i = 0; i < bytes.length / 8; i++) found.writeUInt32LE(Number(bytes.readBigUInt64LE(8 * i)), 4 * i);
  return found;
}

const answers = new Map();
/** The answer of the command line, asked once. */
function expected(input, query, pairwise = false) {
  const key = `${input.spheres.length} ${query} ${pairwise}`;
  if (!answers.has(key)) answers.set(key, native(input, query, [...(pairwise ? ['--pairwise'] : []), ...(query === 'nearest' ? ['--k', '3'] : [])]));
  return answers.get(key);
}

async function compare(page, device, input, calls, more = {}) {
  const answer = await page.evaluate(ask, { device, input: encode(input), calls, ...more });
  calls.forEach(({ query, pairwise }, i) => {
    const columns = Object.fromEntries(Object.entries(answer.found[i].columns).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
    equal(columns, expected(input, query, pairwise), `${query} on ${answer.kind}`);
    assert.equal(answer.found[i].report.precision, 'exact');
  });
  return answer;
}

const small = QUERIES.map((query) => ({ query }));
const pairs = ['interval', 'closest', 'approach', 'occluded'].map((query) => ({ query, pairwise: true }));

test('Node gives the bytes of the command line', async () => {
  const device = await Device.open();
  const { spheres, origins, directions } = SMALL;
  const scene = await device.scene(spheres);
  for (const query of QUERIES) {
    const { report, ...columns } = await (query === 'nearest' ? scene.nearest(3, origins, directions) : scene[query](origins, directions));
    const bytes = Object.entries(columns).map(([name, column]) => [name, Buffer.from(column.buffer, column.byteOffset, column.byteLength)]);
    equal(Object.fromEntries(bytes), expected(SMALL, query), query);
  }
});

const PRECISIONS = ['exact', 'standard', 'fast'];

/** Answers a corpus at each precision; also runs in the page. */
async function askCorpus({ device: choice, columns, precisions }) {
  const device = await (globalThis.umbracast?.Device ?? Device).open(choice);
  const { spheres, origins, directions, velocities, ...ends } = Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, Float32Array.from(column)]),
  );
  const range = velocities && { velocities, time_range: [0, ends.t_max.reduce((a, b) => Math.max(a, b))] };
  const scene = await device.scene(spheres, { pairwise: true, ...range });
  const found = [];
  for (const precision of precisions) {
    const { id, t_enter, t_exit } = await scene.interval(origins, directions, { ...ends, precision, ...(velocities && { motion: 'with-ray' }) });
    found.push([id, t_enter, t_exit].map((column) => [...column]));
  }
  return { kind: device.kind, found };
}

/** Compares answers with a corpus: what the precisions promise, as tests/primitives/motion.rs does. */
function judge(name, { kind, found }, pairs) {
  PRECISIONS.forEach((precision, k) => {
    const [id, enters, exits] = found[k];
    let wrong = 0;
    pairs.forEach(({ enter, exit, gap, isHit, isAtEnd, hasRoots }, i) => {
      const what = `${name} on ${kind} at ${precision}, pair ${i}`;
      if ((id[i] !== NO_SPHERE) !== isHit) {
        if (precision !== 'exact' && isAtEnd) return;
        wrong += 1;
        assert.equal(precision, 'fast', `${what}: gap ${gap}`);
      } else if (isHit && hasRoots && precision === 'exact') {
        assert.deepEqual([enters[i], exits[i]], [Math.fround(enter), Math.fround(exit)], what);
      } else if (isHit && hasRoots && precision === 'standard' && 1 - (1 + gap) ** 2 >= 0.01) {
        [[enters[i], enter], [exits[i], exit]].forEach(([root, t]) => {
          assert.ok(Math.abs(root - t) < 16 * step(t), `${what}: ${root}, exactly ${t}`);
        });
      }
    });
    assert.ok(wrong < 50, `${name} on ${kind} at ${precision}: ${wrong} wrong`);
  });
}

for (const name of ['rays', 'moving']) {
  test(`the corpus '${name}' is answered as each precision promises, in Node and on WebGPU`, async () => {
    const { pairs, ...columns } = corpus(name);
    judge(name, await askCorpus({ device: 'cpu', columns, precisions: PRECISIONS }), pairs);
    await inBrowser({ webgpu: true }, async (page) => {
      const lists = Object.fromEntries(Object.entries(columns).map(([column, values]) => [column, [...values]]));
      const answer = await page.evaluate(askCorpus, { device: 'gpu', columns: lists, precisions: PRECISIONS });
      assert.equal(answer.kind, 'software');
      judge(name, answer, pairs);
    });
  });
}

test('ellipsoids, moving spheres, masks and points give known answers', async () => {
  const device = await Device.open();
  const forward = [[0, 0, 0], [0, 0, 1]];
  // The examples of the Python package and of the library.
  const eggs = await device.scene([0, 0, 5, 0, 0, 9], { semi_axes: [1, 1, 2, 3, 1, 1], rotations: [1, 0, 0, 0, 0.8, 0, 0.6, 0] });
  assert.equal((await eggs.closest(...forward)).t[0], 3);
  const depth = (await eggs.all(...forward)).t_enter[1];
  await eggs.update([0, 0, 6, 0, 0, 9]);
  const lists = await eggs.all(...forward);
  assert.deepEqual([lists.t_enter[0], lists.t_enter[1]], [4, depth], 'the shapes are kept');
  const dust = await device.scene([3, 0, 0, 1, 6, 0, 0, 1, 9, 0, 0, 1], { transmittances: [0.5, 0.25, 0], masks: [1, 3, 1] });
  const along = [[0, 0, 0], [1, 0, 0, 1, 0, 0, 1, 0, 0]];
  const ends = { t_min: [0, 0, -5], t_max: [7, Infinity, 0] };
  assert.deepEqual([...(await dust.transmittance(...along, ends)).transmittance], [0.125, 0, 1]);
  assert.deepEqual([...(await dust.closest(...along, { masks: [2, 1, 4] })).id], [1, 0, NO_SPHERE]);
  assert.deepEqual([...(await dust.closest(...along, { skip_ids: [0, NO_SPHERE, 1], ray_radius: [0, 0.5, 0] })).t], [5, 1.5, 2]);
  const found = await dust.contains([3, 0.5, 0, 0, 0, 0]);
  assert.deepEqual([...found.count, ...found.id], [1, 0, 0, NO_SPHERE]);
  const moving = await device.scene([5, 0, 0, 1], { velocities: [-2, 0, 0], time_range: [0, 10] });
  assert.deepEqual([...(await moving.closest([0, 0, 0], [1, 0, 0, 1, 0, 0], { times: [0, 1] })).t], [4, 2]);
  const pairs = await device.scene([5, 0, 0, 1, 0, 5, 0, 1], { pairwise: true });
  assert.deepEqual([...(await pairs.closest([0, 0, 0], [1, 0, 0, 1, 0, 0])).id], [0, NO_SPHERE]);
});

test('a worker and its helpers give the bytes of the command line', async () => {
  await inBrowser({}, async (page) => {
    const answer = await compare(page, { device: 'cpu', helpers: 2 }, LARGE, small);
    assert.equal(answer.name, 'cpu');
    await compare(page, { device: 'auto' }, corpus(), pairs);
  });
});

test('WebGPU gives the bytes of the command line', async () => {
  await inBrowser({ webgpu: true }, async (page) => {
    const answer = await compare(page, 'gpu', LARGE, [{ query: 'closest' }]);
    assert.equal(answer.kind, 'software');
    assert.equal(answer.name, 'google swiftshader');
    await compare(page, 'gpu', SMALL, small);
    await compare(page, 'gpu', corpus(), pairs);
  });
});

test('a software adapter counts as no GPU', async () => {
  await inBrowser({ webgpu: true }, async (page) => {
    assert.equal((await compare(page, 'auto', SMALL, [{ query: 'closest' }])).kind, 'CPU engine');
  });
});

for (const cut of ['null', 'absent', 'throws']) {
  test(`without WebGPU (${cut}) the CPU engine answers, and 'gpu' is refused`, async () => {
    await inBrowser({ webgpu: cut !== 'null', cut: CUTS[cut] }, async (page) => {
      assert.equal((await compare(page, 'auto', SMALL, [{ query: 'closest' }])).kind, 'CPU engine');
      const error = await page.evaluate(() => umbracast.Device.open('gpu').catch(({ name, message }) => ({ name, message })));
      assert.equal(error.name, 'NoDevice');
      assert.match(error.message, /cpu/);
    });
  });
}

test('a lost GPU is survived by the CPU engine', async () => {
  await inBrowser({ webgpu: true }, async (page) => {
    await page.evaluate(`window.lose = ${loseGpu}`);
    const answer = await compare(page, 'gpu', SMALL, small, { lose: true });
    assert.equal(answer.first, 'software');
    assert.equal(answer.kind, 'CPU engine');
    assert.ok(answer.lost, 'the loss is told');
  });
});

test('a worker that dies is replaced', async () => {
  await inBrowser({}, async (page) => {
    await page.evaluate(async () => {
      const Own = Worker;
      window.workers = [];
      window.Worker = class extends Own {
        constructor(...given) {
          super(...given);
          window.workers.push(this);
        }
      };
      window.device = await umbracast.Device.open({ device: 'cpu', helpers: 0 });
      window.scene = await device.scene([5, 0, 0, 1]);
      // As a panic of the module does.
      window.workers[0].onmessage({ data: { dead: true, error: { message: 'tried' } } });
      const hits = await scene.closest([0, 0, 0], [1, 0, 0]);
      if (hits.t[0] !== 4 || window.workers.length !== 2) throw new Error(`${hits.t[0]} ${window.workers.length}`);
    });
  });
});

/** Runs in the page or in Node: what calls say that wait for a device while it is closed, that come later, or that use a freed scene. */
async function closed() {
  const device = await (globalThis.umbracast?.Device ?? Device).open('cpu');
  const [scene, freed] = [await device.scene([5, 0, 0, 1]), await device.scene([5, 0, 0, 1])];
  const said = (promise) => promise.then(() => 'an answer', ({ name }) => name);
  freed.free();
  const found = [await said(freed.closest([0, 0, 0], [1, 0, 0])), await said(freed.update([6, 0, 0, 1]))];
  const waiting = said(scene.closest(new Float32Array(300_000), [1, 0, 0]));
  device.close();
  found.push(await waiting);
  for (const late of [scene.closest([0, 0, 0], [1, 0, 0]), scene.update([6, 0, 0, 1]), device.scene([5, 0, 0, 1]), device.eclipse('2027-08-02')]) found.push(await said(late));
  return found;
}

test('calls of a closed device and of a freed scene fail', async () => {
  const expected = ['Freed', 'Freed', ...Array(5).fill('Closed')];
  assert.deepEqual(await closed(), expected);
  await inBrowser({}, async (page) => assert.deepEqual(await page.evaluate(closed), expected));
});

test('a number is a column for all rays', async () => {
  const scene = await (await Device.open()).scene([5, 0, 0, 1, 5, 2, 0, 1]);
  const rays = [[0, 0, 0], [1, 0, 0, 1, 0.01, 0]];
  assert.deepEqual(await scene.count(...rays, { ray_radius: 1.5 }).then(({ count }) => [...count]), [2, 2]);
  assert.deepEqual(await scene.closest(...rays, { skip_ids: 0 }).then(({ id }) => [...id]), [NO_SPHERE, NO_SPHERE]);
  const error = await scene.closest(...rays, { skip_ids: 1.5 }).catch((error) => error);
  assert.equal(error.message, 'skip_ids[0] is 1.5: expected an integer from 0 to 4294967295');
  for (const none of [[[], [1, 0, 0]], [[0, 0, 0], []]]) assert.equal((await scene.closest(...none, { masks: 1, times: 0 })).t.length, 0);
});

test('the ephemeris is loaded once, and only for eclipses', async () => {
  await inBrowser({}, async (page) => {
    const asked = [];
    page.on('request', (request) => request.url().endsWith('ephemeris.bin') && asked.push(request.url()));
    await page.route('**/ephemeris.bin', (route) => route.fulfill({ status: 503 }));
    const day = () => page.evaluate(() => device.eclipse('2027-08-02').then(({ eclipse }) => eclipse.kind, ({ name, message }) => `${name}: ${message}`));
    await page.evaluate(async () => {
      window.device = await umbracast.Device.open('cpu');
      await (await device.scene([5, 0, 0, 1])).closest([0, 0, 0], [1, 0, 0]);
    });
    assert.deepEqual(asked, []);
    assert.match(await day(), /^NoEphemeris: the ephemeris could not be loaded: http.*ephemeris.bin: 503/);
    await page.unroute('**/ephemeris.bin');
    assert.deepEqual([await day(), await day()], ['total', 'total']);
    assert.equal(asked.length, 2);
  });
});

test('errors are those of the library', async () => {
  const device = await Device.open();
  const scene = await device.scene([5, 0, 0, 1]);
  const fails = async (promise, expected) => {
    const error = await promise.then(() => assert.fail('no error'), (error) => error);
    assert.ok(error instanceof Error);
    for (const [name, value] of Object.entries(expected)) assert.equal(error[name], value);
  };
  const why = 'a direction must not be zero';
  await fails(scene.closest([0, 0, 0], [0, 0, 0]), { name: 'BadRecord', what: 'ray', index: 0, field: 'direction', message: `ray 0: direction is 0,0,0: ${why}` });
  await fails(device.scene([5, 0, 0, -1]), { name: 'BadRecord', what: 'sphere', field: 'r', value: '-1' });
  await fails(scene.closest([0, 0, 0], [1, 0, 0], { inside: 'in' }), { message: 'inside: unknown variant `in`, expected one of `enter`, `exit`, `ignore`' });
  await fails(scene.closest(), { name: 'TypeError', message: 'origins must be a Float32Array or an array of numbers' });
  await fails(scene.closest([0, 0, 0, 0], [1, 0, 0], { ray_radius: 1 }), { message: 'origins has 4 numbers: expected a multiple of 3' });
  await fails(scene.closest([0, 0], [1, 0, 0]), { message: 'origins has 2 numbers: expected a multiple of 3' });
  await fails(scene.closest([0, 0, 0], [1, 0, '0']), { name: 'TypeError', message: 'directions[2] is 0: expected a number' });
  await fails(scene.closest([0, 0, 0], [1, 0, 0], { ids: [1] }), { name: 'TypeError' });
  await fails(scene.closest([0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0, 1, 0, 0]), { name: 'LengthsDiffer' });
  await fails(scene.closest([0, 0, 0], [1, 0, 0], { masks: '1' }), { message: 'masks must be a Uint32Array or an array of numbers' });
  await fails(scene.closest([0, 0, 0], [1, 0, 0], { precision: 1 }), { message: 'precision is 1: expected a string' });
  await fails(scene.nearest(1.5, [0, 0, 0], [1, 0, 0]), { message: 'k is 1.5: expected an integer from 0 to 4294967295' });
  await fails(scene.nearest(0, [0, 0, 0], [1, 0, 0]), { message: 'k is 0: nearest needs a k of at least 1' });
  await fails(scene.bullets([0, 0, 0], [1, 0, 0], { bounces: -1 }), { name: 'TypeError' });
  await fails(device.render({ unit: 'm', light: { radius: 'x' } }), { name: 'BadFile' });
  await fails(device.visibleFraction([0, 0, 0], [9, 0, 0], 1, [0, 0, 0, 1, 1, 1], [1, 1, 1]), { name: 'InvalidArgument' });
  await fails(Device.open({ precison: 'exact' }), { name: 'TypeError' });
  await fails(Device.open('gpu'), { name: 'NoDevice' });
  await fails(Device.open({ device: 5 }), { name: 'TypeError', message: 'device is 5: expected a string' });
  await fails(Device.open(5), { name: 'TypeError', message: 'device is 5: expected a string' });
  await fails(scene.closest(new DataView(new ArrayBuffer(12)), [1, 0, 0]), { message: 'origins must be a Float32Array or an array of numbers' });
  await fails(scene.nearest(1, [0, 0, 0], [1, 0, 0], { k: 2 }), { name: 'TypeError' });
  for (const time_range of [[], [0, 1, 5, 9]]) {
    await fails(device.scene([5, 0, 0, 1], { time_range }), { message: `time_range has ${time_range.length} numbers: expected 2` });
  }
  // Each would need more bodies than a module has memory for.
  for (const bodies of [[], [0, 0, 0]]) {
    const message = `bodies has ${bodies.length / 3} entries: expected 2147483648 or 4294967296 for 2 observers`;
    await fails(device.visibleFraction([0, 0, 0, 1, 0, 0], [99, 0, 0], 10, bodies, 1, { body_count: 2 ** 31 }), { name: 'InvalidArgument', message });
  }
});

test('eclipses refuse options and places that they would not use', async () => {
  const device = await Device.open();
  const day = '2027-08-02';
  const place = { latitude_deg: 25.69, longitude_deg: 32.64 };
  const refuses = (promise, message) => assert.rejects(promise, { message });
  const names = 'there are radii, sun_radius';
  await refuses(device.eclipse(day, { radi: 'nasa' }), `eclipse: there is no option radi; ${names}`);
  await refuses(device.map(day, { date: '2024-04-08' }), `map: there is no option date; ${names}`);
  await refuses(device.circumstances(day, [place], { refraction: true }), `circumstances: there is no option refraction; ${names}`);
  await refuses(device.eclipses(2027, 2028, { sun_radius: 900 }), 'eclipses: there is no option sun_radius; there are radii');
  for (const sun_radius of [NaN, Infinity]) await refuses(device.eclipse(day, { sun_radius }), `sun_radius is ${sun_radius}: expected a finite number`);
  await refuses(device.circumstances(day, [{ ...place, latitude_deg: NaN }]), 'latitude_deg is NaN: expected a finite number');
  await refuses(device.circumstances(day, [{ ...place, height: 3000 }]), /unknown field `height`/);
  const outside = (text) => new RegExp(`^${text} is outside the years 1900 to 2050 of the built-in ephemeris$`);
  await refuses(device.eclipses(1800, 1850), outside('1800-01-01T00:00:00 UT1'));
  await refuses(device.eclipses(2020, 2 ** 31 - 1), outside('2147483647-01-01T00:00:00Z'));
});

/** Positions on a sphere in km, for short distances. */
const onGlobe = ([longitude, latitude]) => {
  const [a, b] = [longitude, latitude].map((degrees) => (degrees * Math.PI) / 180);
  return [Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)].map((x) => 6371 * x);
};
const between = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
/** How far a place is from the nearest line. */
const distance = (place, lines) => {
  const to = onGlobe(place);
  const ofPart = (a, b) => {
    const [way, rest] = [b.map((x, i) => x - a[i]), to.map((x, i) => x - a[i])];
    const dot = (u, v) => u.reduce((sum, x, i) => sum + x * v[i], 0);
    const at = Math.min(1, Math.max(0, dot(way, rest) / (dot(way, way) || 1)));
    return between(rest, way.map((x) => at * x));
  };
  return Math.min(...lines.flatMap((line) => line.slice(1).map((point, i) => ofPart(onGlobe(line[i]), onGlobe(point)))));
};

test('lines of an eclipse have no gaps, and end at the horizon', async () => {
  const device = await Device.open();
  // The limits of 1991 turn back in time near their ends. In 1948 a limit has two points near each other. In 2012 the lines are one loop.
  const days = { '1933-08-21': 2, '1948-11-01': 2, '1991-07-11': 2, '2012-05-20': 1, '2024-04-08': 2, '2027-08-02': 2 };
  for (const [day, count] of Object.entries(days)) {
    const { horizon, maximum_at_horizon, partial } = await device.map(day);
    for (const [name, lines] of Object.entries({ horizon, maximum_at_horizon, partial })) {
      assert.equal(lines.length, count, `${day}: ${name}`);
      const steps = lines.flatMap((line) => line.slice(1).map((point, i) => between(onGlobe(line[i]), onGlobe(point))));
      assert.ok(Math.max(...steps) < 500, `${day}: ${name} has a step of ${Math.max(...steps)} km`);
    }
    for (const line of horizon) assert.deepEqual(line.at(-1), line[0], `${day}: the horizon is closed`);
    for (const end of [...maximum_at_horizon, ...partial].flatMap((line) => [line[0], line.at(-1)])) {
      assert.ok(distance(end, horizon) < 30, `${day}: ${end} is ${distance(end, horizon)} km from the horizon`);
    }
  }
});

test('lines of an eclipse are where places see them', async () => {
  const device = await Device.open();
  const day = '2027-08-02';
  const map = await device.map(day);
  const see = async (longitude_deg, latitude_deg) => (await device.circumstances(day, [{ latitude_deg, longitude_deg }])).places[0];
  /** The latitude at which a condition ends that is true in the south. */
  const edge = async (longitude, south, north, isSouth) => {
    for (let i = 0; i < 14; i++) {
      const middle = 0.5 * (south + north);
      if (isSouth(await see(longitude, middle))) south = middle;
      else north = middle;
    }
    return [longitude, south];
  };
  for (const longitude of [-34, -28, -22]) {
    const place = await edge(longitude, -20, 10, ({ c1 }) => !c1);
    assert.ok(distance(place, map.partial) < 10, `${place} is ${distance(place, map.partial)} km from the limit`);
  }
  for (const place of [[-34.38, 0], [-36.93, 10]]) {
    assert.ok(Math.abs((await see(...place)).maximum_sun_altitude_deg) < 0.02);
    assert.ok(distance(place, map.maximum_at_horizon) < 10, `${place} is ${distance(place, map.maximum_at_horizon)} km from the line`);
  }
  // At its beginning, the umbra is cut by the horizon.
  const ask = async (more) => JSON.parse(await device.ask('instant', JSON.stringify({ date: day, time_s: map.center[0][2], ...more })));
  const { umbra } = await ask();
  for (const [longitude_deg, latitude_deg] of [umbra[0][0], umbra[0].at(-1)]) {
    const { view } = await ask({ place: { latitude_deg, longitude_deg } });
    assert.ok(Math.abs(view.sun_altitude_deg) < 0.3, `the umbra ends at ${view.sun_altitude_deg}`);
  }
});

test('arrays are copied, or transferred on request', async () => {
  await inBrowser({}, async (page) => {
    const lengths = await page.evaluate(async () => {
      const scene = await (await umbracast.Device.open('cpu')).scene([5, 0, 0, 1]);
      const found = [];
      for (const transfer of [false, true]) {
        const [origins, directions] = [Float32Array.of(9, 0, 0, 0).subarray(1), Float32Array.of(1, 0, 0)];
        const hits = await scene.closest(origins, directions, { transfer });
        found.push([hits.t[0], origins.length, directions.length]);
      }
      return found;
    });
    assert.deepEqual(lengths, [[4, 3, 3], [4, 0, 0]]);
    const copied = await page.evaluate(async () => {
      const scene = await (await umbracast.Device.open('cpu')).scene([5, 0, 0, 1]);
      const along = new Float32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer, 0, 3);
      along[0] = 1;
      return [(await scene.closest([0, 0, 0], along, { transfer: true })).t[0], along[0]];
    });
    assert.deepEqual(copied, [4, 1], 'shared memory is copied');
  });
});

/** In a page, `big` has rays along x for two engines, and `ends` the different places of their hits. */
const inBatches = (options, task) =>
  inBrowser(options, async (page) => {
    await page.evaluate(() => {
      const count = 1 << 16;
      window.big = [new Float32Array(3 * count), new Float32Array(3 * count).map((_, i) => Number(i % 3 === 0))];
      window.ends = async (scene, options) => [...new Set((await scene.closest(...big, options)).t)];
      window.said = (promise) => promise.then(() => 'an answer', ({ message }) => message);
      const Own = Worker;
      window.workers = [];
      window.Worker = class extends Own {
        constructor(...given) {
          if (window.noWorkers) throw new Error('no more workers');
          super(...given);
          window.workers.push(this);
        }
      };
    });
    await task(page);
  });

test('spheres are updated in every engine', async () => {
  await inBatches({}, async (page) => {
    const found = await page.evaluate(async () => {
      const device = await umbracast.Device.open({ device: 'cpu', helpers: 1 });
      const scene = await device.scene([5, 0, 0, 1]);
      const before = await ends(scene);
      await scene.update([7, 0, 0, 1]);
      const after = await ends(scene);
      // An error of a helper's part has the number of the whole batch.
      const directions = big[1].slice();
      directions[directions.length - 3] = 0;
      return [before, after, await said(scene.closest(big[0], directions))];
    });
    assert.deepEqual(found, [[4], [6], 'ray 65535: direction is 0,0,0: a direction must not be zero']);
  });
});

test('the first bad ray of a batch is named, whichever part is answered first', async () => {
  await inBatches({}, async (page) => {
    const found = await page.evaluate(async () => {
      const device = await umbracast.Device.open({ device: 'cpu', helpers: 1 });
      const scene = await device.scene(new Float32Array(4 * 100).map((_, i) => [i, 0, 0, 1][i % 4]));
      await ends(scene);
      // The engine of the first part is busy.
      const busy = scene.all(big[0].subarray(0, 60_000), big[1].subarray(0, 60_000));
      const directions = big[1].slice();
      for (const ray of [9, 65_000]) directions[3 * ray] = 0;
      const found = await said(scene.closest(big[0], directions));
      await busy;
      return found;
    });
    assert.equal(found, 'ray 9: direction is 0,0,0: a direction must not be zero');
  });
});

/** Runs in the page: calls that are not awaited before the next one. */
async function inTurn({ choice, isBatch }) {
  const device = await umbracast.Device.open({ device: choice, helpers: 1 });
  const ask = async (scene, options) => (isBatch ? ends(scene, options) : [(await scene.closest([0, 0, 0], [1, 0, 0], options)).t[0]]);
  const scene = await device.scene([5, 0, 0, 1], { velocities: [0, 0, 0], masks: [1], time_range: [0, 9] });
  // A helper that is still to start has the spheres of the call.
  const found = [ask(scene), scene.update([8, 0, 0, 1]), ask(scene), scene.contains([8, 0, 0]), scene.bullets([0, 0, 0], [1, 0, 0])];
  found.push(scene.update([9, 0, 0, 1], { velocities: [2, 0, 0] }), scene.update([9, 0, 0, 1], { masks: [2] }), ask(scene, { times: 1 }), ask(scene, { masks: 1 }));
  scene.free();
  const late = await scene.closest([0, 0, 0], [1, 0, 0]).catch(({ name }) => name);
  const [first, , second, points, flights, , , both, masked] = await Promise.all(found);
  return { kind: device.kind, found: [first, second, points.count[0], flights.distance[0], both, masked, late, scene.length] };
}

test('calls are answered in turn, those before the scene was freed as well', async () => {
  const expected = [[4], [7], 1, 7, [10], [Infinity], 'Freed', 0];
  await inBatches({ webgpu: true }, async (page) => {
    for (const [choice, isBatch] of [['cpu', true], ['cpu', false], ['gpu', false]]) {
      const { kind, found } = await page.evaluate(inTurn, { choice, isBatch });
      assert.equal(kind, choice === 'cpu' ? 'CPU engine' : 'software');
      assert.deepEqual(found, expected, `${choice} ${isBatch}`);
    }
  });
});

test('a batch for several engines is refused as one engine refuses it', async () => {
  await inBatches({}, async (page) => {
    const found = await page.evaluate(async () => {
      const device = await umbracast.Device.open({ device: 'cpu', helpers: 1 });
      const [origins, directions] = big;
      const half = origins.length / 6;
      const scene = await device.scene([5, 0, 0, 1]);
      const pairs = await device.scene(new Float32Array(4 * 3 * half).fill(1), { pairwise: true });
      const one = [[0, 0, 0], directions, { t_max: 9, times: 0, masks: [1] }];
      return [
        ...(await Promise.all(['masks', 'skip_ids', 'from_ids', 'times', 'ray_radius', 't_min', 't_max'].map((name) => said(scene.closest(origins, directions, { [name]: Array(half).fill(1) }))))),
        await said(scene.closest(origins, directions.subarray(3 * half))),
        await said(scene.closest(origins.subarray(3 * half), directions)),
        await said(pairs.closest(origins, directions)),
        await said(scene.closest(...one)),
        await ends(scene, { t_max: 9, t_min: [0.5], masks: 1 }),
      ];
    });
    const [ends, pairs, answer] = [found.pop(), found.splice(9, 1)[0], found.pop()];
    for (const message of [...found, answer]) assert.match(message, /65536.* (32768|1)|32768.* 65536/);
    assert.match(pairs, /98304|65536/);
    assert.deepEqual(ends, [4]);
  });
});

test('ellipsoids are updated alike in every engine', async () => {
  await inBatches({}, async (page) => {
    const found = await page.evaluate(async () => {
      const device = await umbracast.Device.open({ device: 'cpu', helpers: 1 });
      const [center, semi_axes, rotations] = [[10, 0, 0], [1, 2, 3], [0.5 ** 0.5, 0, 0, 0.5 ** 0.5]];
      const scene = await device.scene(center, { semi_axes, rotations });
      const found = [await ends(scene)];
      for (const options of [{}, { semi_axes }, {}, { semi_axes, rotations }, {}]) {
        await scene.update(center, options);
        found.push(await ends(scene));
      }
      found.push(await said(scene.update(center, { rotations: [1, 0, 0, 0] })), await ends(scene));
      found.push(await said(device.scene([5, 0, 0, 1], { rotations: [1, 0, 0, 0] })));
      return found;
    });
    const refused = 'rotations are those of ellipsoids: give their semi_axes, too';
    const hit = found.map((one) => (typeof one === 'string' ? one : one.map((t) => Number(t.toFixed(5)))));
    assert.deepEqual(hit, [[8], [8], [9], [9], [8], [8], refused, [8], refused]);
  });
});

test('a helper that ends or cannot start is given up', async () => {
  await inBatches({}, async (page) => {
    const found = await page.evaluate(async () => {
      const found = [];
      for (const isStarted of [true, false]) {
        const device = await umbracast.Device.open({ device: 'cpu', helpers: 1 });
        const scene = await device.scene([5, 0, 0, 1]);
        if (isStarted) {
          await ends(scene);
          workers.at(-1).dispatchEvent(new ErrorEvent('error', { message: 'tried', cancelable: true }));
        } else window.noWorkers = true;
        found.push(await ends(scene), device.lost, await ends(scene));
      }
      return found;
    });
    assert.deepEqual(found, [[4], 'the engine of umbracast ended: tried', [4], [4], 'no more workers; see "Bundlers" in the README of the package', [4]]);
  });
});

test('a device that is refused leaves no worker', async () => {
  await inBrowser({}, async (page) => {
    for (const options of ['gpu', { device: 'cpu', precision: 'exakt' }]) {
      await page.evaluate((one) => umbracast.Device.open(one).catch(() => {}), options);
    }
    for (let i = 0; page.workers().length && i < 100; i++) await page.waitForTimeout(20);
    assert.equal(page.workers().length, 0);
  });
});

test('arrays that were transferred before are refused', async () => {
  const gone = () => {
    const array = Float32Array.of(1, 0, 0);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  };
  const device = await Device.open();
  const scene = await device.scene([5, 0, 0, 1]);
  for (const transfer of [false, true]) {
    const why = { name: 'TypeError', message: 'directions was transferred before: its memory is gone' };
    await assert.rejects(scene.closest([0, 0, 0], gone(), { transfer }), why);
    await assert.rejects(device.visibleFraction(gone(), [9, 0, 0], 1, [0, 0, 0], 1, { transfer }), { message: 'observers was transferred before: its memory is gone' });
  }
  const own = Float32Array.of(1, 0, 0);
  const waits = scene.closest([0, 0, 0], own, { transfer: true });
  structuredClone(own.buffer, { transfer: [own.buffer] });
  await assert.rejects(waits, { name: 'EngineEnded', message: /the memory of the arguments is gone/ });
  assert.equal((await scene.closest([0, 0, 0], [1, 0, 0])).t[0], 4);
});

test('a closed device in Node frees its memory', async () => {
  const spheres = new Float32Array(4 * 500_000).map((_, i) => (i % 4 === 3 ? 0.001 : (i * 0.618034) % 1));
  const kept = [];
  const sizes = [];
  for (let i = 0; i < 10; i++) {
    const device = await Device.open();
    await device.scene(spheres);
    device.close();
    kept.push(device);
    sizes.push(process.memoryUsage().rss);
  }
  // A scene has 30 MB.
  assert.ok(sizes[9] - sizes[3] < 90e6, `${sizes.map((one) => Math.round(one / 1e6))} MB`);
});

test('lists that are too large for a module are refused, and the next ones are answered', async () => {
  const device = await Device.open();
  const scene = await device.scene([5, 0, 0, 1]);
  const refuses = (promise, what) =>
    assert.rejects(promise, { name: 'OutOfMemory', message: `a module of WebAssembly has 4 GiB of memory, and 2 GiB for one list: cannot allocate memory for ${what}; ask for fewer at once` });
  // Rays of 32 bytes.
  await refuses(scene.closest([0, 0, 0], new Float32Array(3 * (2 ** 26 + 1)), { transfer: true }), 'rays');
  await refuses(scene.closest([0, 0, 0], [1, 0, 0], { masks: new Uint32Array(2 ** 29 + 1), transfer: true }), 'masks');
  await refuses(device.visibleFraction(new Float64Array(3 * 2 ** 27), [9, 0, 0], 1, [0, 0, 0], 1, { transfer: true }), 'observers');
  assert.equal((await scene.closest([0, 0, 0], [1, 0, 0])).t[0], 4);
});
