// The page, used as a person uses it. web/serve.sh --build has built web/dist, and the command line is the program of UMBRACAST.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { View, vectors } from '../page/earth.js';
import { serve } from '../serve.mjs';
import { CUTS, launch, loseGpu, open } from './browser.mjs';

const here = new URL('.', import.meta.url).pathname;
const umbracast = process.env.UMBRACAST ?? join(here, '../../target/release/umbracast');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const run = (...args) => execFileSync(umbracast, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
let server, browser, folder;

before(async () => {
  server = await serve(join(here, '../dist'));
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'umbracast-page-'));
});
after(async () => {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
});

/** Waits until a function has a true value in the page. */
async function until(page, what, ...args) {
  for (let i = 0; i < 600; i++) {
    const value = await page.evaluate(what, ...args);
    if (value) return value;
    await page.waitForTimeout(50);
  }
  assert.fail(`never: ${what}`);
}
const drawn = page => until(page, () => document.documentElement.dataset.drawn && document.querySelector('#contacts tbody tr') && document.querySelectorAll('#which option').length > 300);
const text = (page, selector) => page.evaluate(one => document.querySelector(one).textContent, selector);
const contacts = page => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#contacts tbody tr')].map(row => [row.querySelector('button').dataset.contact, row.querySelector('time').dateTime])));

/** The contacts that the command line prints. */
function expected(...args) {
  const [place] = JSON.parse(run('circumstances', ...args, '--json')).places;
  return Object.fromEntries(['c1', 'c2', 'maximum', 'c3', 'c4'].filter(key => place[key]).map(key => [key, place[key]]));
}

async function visit(hash, use, cut) {
  const page = await open(browser, server, `/${hash}`, cut);
  try {
    await use(page);
    assert.deepEqual(page.faults, []);
  } finally {
    await page.unrouteAll({ behavior: 'wait' });
    await page.close();
  }
}

test('the page begins with a total eclipse, at the city that sees most of it', () => visit('', async page => {
  const started = Date.now();
  await until(page, () => document.documentElement.dataset.drawn);
  console.log(`first picture after ${await page.evaluate(() => document.documentElement.dataset.drawn)} ms, seen after ${Date.now() - started} ms`);
  await drawn(page);
  assert.match(await text(page, '#which option:checked'), /total/);
  assert.match(await text(page, '#seen-title'), /^Total eclipse, \d/);
  assert.match(await text(page, '#status'), /Engine: CPU/);
  assert.match(await page.evaluate(() => location.hash), /eclipse=\d{4}-\d\d-\d\d/);
  await page.focus('#tab-eclipse');
  for (const name of ['rays', 'bullets']) {
    await page.keyboard.press('ArrowRight');
    await until(page, id => document.querySelector(`#${id}`).offsetHeight > 100 && document.activeElement.id === `tab-${id}`, name);
  }
}));

test('contacts at Luxor and A Coruña are those of the command line, with each choice of radii', async () => {
  for (const [hash, args] of [
    ['#eclipse=2027-08-02&place=25.6872,32.6396', ['2027-08-02', '--place=25.6872,32.6396', '--radii', 'nasa']],
    ['#eclipse=2027-08-02&place=25.6872,32.6396&radii=iau', ['2027-08-02', '--city', 'Luxor']],
    ['#eclipse=2026-08-12&place=43.3623,-8.4115&radii=quaglia', ['2026-08-12', '--city', 'La Coruna', '--radii', 'nasa', '--sun-radius', '959.95']],
    ['#eclipse=1919-05-29&place=1.6,7.4', ['1919-05-29', '--place=1.6,7.4', '--radii', 'nasa']],
  ]) {
    await visit(hash, async page => {
      await drawn(page);
      assert.deepEqual(await contacts(page), expected(...args), hash);
      assert.match(await text(page, '#contacts tbody td'), / ± \d+ s$/);
    });
  }
});

test('only what is seen is announced, and times of another day have their day', async () => {
  for (const [hash, title, said, first] of [
    ['2024-04-08&place=25.7,-80.2', /^Partial eclipse$/, /^Obscuration 46\.\d % ± 0\.1, magnitude 0\.55\d\.$/, /^17:47:/],
    // From C2 to C3, the Sun is down.
    ['2026-08-12&place=36.8065,10.1815', /^Partial eclipse$/, /^At most 46\.\d % covered with the Sun up, at 18:10\. The Sun is down during totality\.$/, /^17:41:/],
    ['2012-05-20&place=21.0278,105.8342', /^Partial eclipse$/, /at 22:21\. The Sun is down during annularity\.$/, /^21:12:/],
    // Between them, it sets.
    ['2026-08-12&place=38.70142,5.32037', /^Total eclipse, 1 min/, /The Sun sets before totality ends\.$/, /^17:3\d:/],
    ['2012-05-20&place=40.5,-120', /^Annular eclipse, /, /^Obscuration/, /^00:13:\d\d \(May 21\) ±/],
    ['1957-04-30&place=71,40', /^Annular eclipse, /, /^Obscuration/, /^23:10:\d\d \(Apr 29\) ±.*00:04:\d\d ±/],
  ]) {
    await visit(`#eclipse=${hash}`, async page => {
      await drawn(page);
      assert.match(await text(page, '#seen-title'), title, hash);
      assert.match(await text(page, '#seen-text'), said, hash);
      assert.match(await page.evaluate(() => [...document.querySelectorAll('#contacts tbody td:nth-child(2)')].map(one => one.textContent).join()), first, hash);
      assert.ok(await page.evaluate(() => document.querySelector('#contacts').offsetWidth <= document.querySelector('.seen .scroll').clientWidth), hash);
    });
  }
});

test('the map stays in its frame, and the address has it', async () => {
  await visit('#eclipse=2024-04-08', async page => {
    await drawn(page);
    await page.click('#as-map');
    await until(page, () => /view=flat/.test(location.hash));
    await page.selectOption('#which', '2021-12-04');
    await until(page, () => /eclipse=2021-12-04/.test(location.hash) && /2021 Dec 4/.test(document.title));
    await page.waitForTimeout(300);
    const hash = await page.evaluate(() => location.hash);
    const [latitude, longitude] = /view=flat,([^,]+),([^,]+),1.00/.exec(hash).slice(1).map(Number);
    const { width, height } = await page.locator('#stage').boundingBox();
    assert.ok(Math.abs(latitude) <= Math.max(0, 90 - 180 * (height - 60) / width) + 1e-3 && Math.abs(longitude + 46.1) < 1, hash);
    // The time is that of the maximum, and follows it when the page is loaded anew.
    assert.doesNotMatch(hash, /time=/);
    await page.click('[href="accuracy.html"]');
    await page.click('main a');
    await drawn(page);
    assert.match(await page.evaluate(() => document.title + location.hash), /^2021 Dec 4.*view=flat/);
  });
  await visit('#eclipse=2026-08-12&view=flat,0,0,1', async page => {
    await drawn(page);
    await page.click('#zoom-in');
    await until(page, () => /view=flat,0.000,0.000,1.60/.test(location.hash));
  });
});

test('the observer is moved by name, by coordinates, by hand and by keys; wrong input is answered at its field', () => visit('#eclipse=2027-08-02', async page => {
  await drawn(page);
  const place = async words => { await page.fill('#place', words); await page.press('#place', 'Enter'); };
  await place('madrid');
  await until(page, () => /^Madrid/.test(document.querySelector('#seen-text').textContent));
  assert.deepEqual(await contacts(page), expected('2027-08-02', '--city', 'Madrid', '--radii', 'nasa'));
  await place('Madird');
  await until(page, () => /did you mean Madrid/.test(document.querySelector('#place-error').textContent));
  assert.equal(await page.getAttribute('#place', 'aria-invalid'), 'true');
  await place('25.6872 N, 32.6396 E');
  await until(page, () => document.querySelector('#place-error').textContent === '' && /6 min 2/.test(document.querySelector('#seen-title').textContent));
  await place('25.6872,32.6396,2500');
  await until(page, () => /2500 m/.test(document.querySelector('#place').value));
  await until(page, () => /32.6396,2500/.test(document.querySelector('#command').textContent));
  assert.deepEqual(await contacts(page), expected('2027-08-02', '--place=25.6872,32.6396,2500', '--radii', 'nasa'));
  await page.fill('#date', '2027-08-03');
  await page.press('#date', 'Enter');
  await until(page, () => /no solar eclipse on 2027-08-03/.test(document.querySelector('#date-error').textContent));
  await page.fill('#date', '2 August');
  await page.press('#date', 'Enter');
  await until(page, () => /2 August/.test(document.querySelector('#date-error').textContent));
  // A click beside the pin, then a drag of the pin, then keys.
  const box = await page.locator('#globe').boundingBox();
  const before_ = await page.inputValue('#place');
  await page.mouse.click(box.x + box.width / 2 + 120, box.y + box.height / 2 - 160);
  await until(page, old => document.querySelector('#place').value !== old, before_);
  const clicked = await page.inputValue('#place');
  await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 - 160 - 14);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 - 60, { steps: 4 });
  await page.mouse.up();
  await until(page, old => document.querySelector('#place').value !== old, clicked);
  const dragged = await page.inputValue('#place');
  await page.focus('#globe');
  await page.keyboard.press('Shift+ArrowLeft');
  await until(page, old => document.querySelector('#place').value !== old, dragged);
}));

test('the clock is at the maximum of the observer until it is set, and other tabs change nothing', () => visit('#eclipse=2027-08-02&place=36.8,-4.3', async page => {
  await drawn(page);
  const clock = () => page.evaluate(() => document.querySelector('#now dd').textContent);
  await until(page, () => document.querySelector('#now dd')?.textContent === '08:49:16');
  // At the edge, 0.01° inside.
  assert.match(await text(page, '#seen-text'), /at the edge.*partial or total here/);
  await page.click('#tab-rays');
  await until(page, () => /hit/.test(document.querySelector('#rays-title')?.textContent));
  await page.click('#tab-eclipse');
  assert.equal(await text(page, '#notice'), '');
  await page.fill('#place', 'Sevilla');
  await page.press('#place', 'Enter');
  await until(page, () => document.querySelector('#seen').classList.contains('old'));
  await page.click('#place-error button');
  await until(page, () => /^Partial/.test(document.querySelector('#seen-title').textContent) && document.querySelector('#now dd').textContent === '08:47:33');
  await page.click('[data-contact=c1]');
  await until(page, () => document.querySelector('#now dd').textContent !== '08:47:33');
  const begins = await clock();
  await page.fill('#place', '36.8 N 4.3 W');
  await page.press('#place', 'Enter');
  await until(page, () => /^Total/.test(document.querySelector('#seen-title').textContent));
  await page.waitForTimeout(300);
  assert.equal(await clock(), begins);
}));

test('the way back leads to the eclipse before, and an address that is not known is told', () => visit('#eclipse=2026-08-12&place=25,32,-20000', async page => {
  await drawn(page);
  await until(page, () => /place=25,32,-20000, which it does not know/.test(document.querySelector('#notice').textContent));
  await page.click('#later');
  await until(page, () => /eclipse=2027-02-06/.test(location.hash));
  await Promise.all([page.waitForEvent('load'), page.goBack()]);
  await until(page, () => /2026 Aug 12/.test(document.title) && document.querySelector('#which').value === '2026-08-12');
}));

test('time, zone and view are in the address, and come back from it', () => visit('#eclipse=2027-08-02&place=25.6872,32.6396&city=Luxor&zone=Africa/Cairo&time=-278&view=flat,20,30,2', async page => {
  await drawn(page);
  assert.match(await text(page, '#zone-name'), /Cairo, UTC\+3/);
  assert.match(await text(page, '#clock'), /^13:02:0\d UTC\+3$/);
  assert.equal(await page.getAttribute('#as-map', 'aria-pressed'), 'true');
  await page.click('[data-contact=c2]');
  await until(page, () => /13:02:08/.test(document.querySelector('#clock').textContent));
  await page.click('#as-globe');
  await until(page, () => /view=globe/.test(location.hash) && /zone=Africa/.test(location.hash));
  await page.click('#later');
  await until(page, () => /eclipse=2028-01-26/.test(location.hash));
}));

test('the files of a path are those of the command line', () => visit('#eclipse=2021-12-04&place=-75,-60', async page => {
  await drawn(page);
  const save = async what => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-save=${what}]`)]);
    return readFileSync(await download.path(), 'utf8');
  };
  await until(page, () => document.querySelector('#key .limit'));
  const file = join(folder, 'path.geojson');
  run('map', '2021-12-04', '--size', '40x20', '-o', join(folder, 'm.png'), '--geojson', file, '--radii', 'nasa', '--quiet');
  // The trigonometric functions of WebAssembly are not those of the system: a coordinate may differ by a metre.
  const [own, other] = [await save('geojson'), readFileSync(file, 'utf8')].map(json => json.match(/-?\d+\.\d+|[^\d.-]+|./g));
  assert.equal(own.length, other.length);
  own.forEach((part, i) => assert.ok(part === other[i] || Math.abs(part - other[i]) < 3e-5, `${part} and ${other[i]} after ${own.slice(i - 20, i).join('')}`));
  assert.match(await save('kml'), /<kml [^]*centre line[^]*<\/kml>/);
  const seen = join(folder, 'seen.csv');
  run('circumstances', '2021-12-04', '--place=-75,-60', '--radii', 'nasa', '-o', seen, '--quiet');
  assert.equal((await save('place')).split('\n')[0], readFileSync(seen, 'utf8').split('\n')[0]);
  assert.match(await save('path'), /^time,kind,latitude_deg/);
  assert.match(await save('svg'), /^<svg [^]*<image [^]*<path [^]*>Total solar eclipse of 2021-12-04, 07:33:\d\d UTC\. Observer: 75\.0000° S, 60\.0000° W<[^]*<\/svg>\n$/);
  const [png] = await Promise.all([page.waitForEvent('download'), page.click('[data-save=png]')]);
  assert.equal(readFileSync(await png.path()).subarray(1, 4).toString(), 'PNG');
}));

test('a file has the eclipse of its name, also when it is saved at once', () => visit('#eclipse=2027-08-02', async page => {
  await drawn(page);
  const save = async (what, date) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.evaluate(([one, day]) => {
        const which = document.querySelector('#which');
        which.value = day;
        which.dispatchEvent(new Event('change'));
        document.querySelector(`[data-save=${one}]`).click();
      }, [what, date]),
    ]);
    assert.match(download.suggestedFilename(), new RegExp(`^eclipse-${date}`));
    return readFileSync(await download.path(), 'utf8');
  };
  const rows = (await save('place', '2024-04-08')).split('\n').map(row => row.split(','));
  assert.equal(rows[1][rows[0].indexOf('maximum')].slice(0, 10), '2024-04-08');
  assert.match((await save('path', '2026-08-12')).split('\n')[1], /^2026-08-12/);
  assert.match(await save('svg', '2028-07-22'), />Total solar eclipse of 2028-07-22, 0\d:\d\d/);
  await page.selectOption('#which', '2025-03-29');
  await page.click('[data-save=path]');
  await until(page, () => /A partial eclipse has no path/.test(document.querySelector('#notice').textContent));
  await page.selectOption('#which', '2043-04-09');
  await page.click('[data-save=path]');
  await until(page, () => /The axis of the shadow misses the Earth, so/.test(document.querySelector('#notice').textContent));
}));

test('the city of a link is believed only at its place', async () => {
  for (const [place, city] of [['0,0', 'Luxor'], ['25.6872,32.6396', '$(x)";rm'], ['25.6872,32.6396,9', 'Luxor']]) {
    await visit(`#eclipse=2027-08-02&place=${place}&city=${encodeURIComponent(city)}`, async page => {
      await until(page, () => document.querySelectorAll('#which option').length > 300);
      assert.equal(await text(page, '#notice'), `The address of this page has city=${city} at ${place}, which it does not know.`);
      assert.equal(await text(page, '#command'), `umbracast circumstances 2027-08-02 --place=${place} --radii nasa`);
      await until(page, () => !/city/.test(location.hash));
    });
  }
  await visit('#eclipse=2027-08-02&place=25.6872,32.6396&city=Luxor', async page => {
    await drawn(page);
    assert.equal(await text(page, '#notice'), '');
    assert.match(await text(page, '#command'), /--city "Luxor"/);
  });
});

test('another eclipse takes errors of fields away, and the observer keeps the height', () => visit('#eclipse=2027-08-02&place=25.6872,32.6396,2500', async page => {
  await drawn(page);
  for (const [field, words] of [['place', 'Nowhereville'], ['date', '2027-08-05']]) {
    await page.fill(`#${field}`, words);
    await page.press(`#${field}`, 'Enter');
    await until(page, one => document.querySelector(`#${one}-error`).textContent, field);
  }
  await page.selectOption('#which', '2024-04-08');
  await until(page, () => /2024 Apr 8/.test(document.title));
  assert.deepEqual(await page.evaluate(() => [...['place', 'date'].map(one => document.querySelector(`#${one}-error`).textContent), document.querySelector('#seen').className]), ['', '', 'block seen']);
  await page.focus('#globe');
  await page.keyboard.press('Shift+ArrowUp');
  await until(page, () => /26\.1872° N.* 2500 m/.test(document.querySelector('#place').value));
  // The middle of the map is in the address when a place is typed.
  await page.fill('#place', 'Sydney');
  await page.press('#place', 'Enter');
  await until(page, () => /city=Sydney/.test(location.hash) && /view=globe,-33\.8\d+,151\.2/.test(location.hash));
}));

test('lines pass poles and the date line without a stroke across the map', () => {
  const circle = Array.from({ length: 361 }, (_, i) => [i, 88]);
  const meridian = Array.from({ length: 200 }, (_, i) => (i < 100 ? [179, -80 + i * 1.7] : [-1, 90 - (i - 100) * 1.7]));
  for (const projection of ['globe', 'flat']) {
    for (const [longitude, latitude] of [[0, 0], [180, 60], [-90, 90], [30, -90]]) {
      const view = Object.assign(new View(), { projection, longitude, latitude, width: 800, height: 400 });
      let at = null, longest = 0, strokes = 0;
      view.trace(vectors([circle, meridian]), {
        moveTo(x, y) { at = [x, y]; },
        lineTo(x, y) { longest = Math.max(longest, Math.hypot(x - at[0], y - at[1])); strokes++; at = [x, y]; },
      });
      assert.ok(strokes > 20, `${projection} ${longitude} ${latitude}: ${strokes} strokes`);
      assert.ok(longest < 0.55 * 800 && (projection === 'flat' || longest < 30), `${projection} ${longitude} ${latitude}: ${longest} pixels`);
    }
    const view = Object.assign(new View(), { projection, longitude: 170, latitude: 50, width: 800, height: 400 });
    for (const place of [[175, 60], [-175, 40], [120, 20]]) {
      const back = view.place(view.pixel(place));
      assert.ok(Math.abs(back[0] - place[0]) < 1e-9 && Math.abs(back[1] - place[1]) < 1e-9, `${projection} ${place}: ${back}`);
    }
  }
});

test('the shadow of the picture is that of the map of the command line', () => visit('#eclipse=2026-08-12', async page => {
  await drawn(page);
  const file = join(folder, 'o.npy');
  run('map', '2026-08-12', '--time', '17:46', '--size', '72x36', '-o', join(folder, 'o.png'), '--npy', file, '--radii', 'nasa', '--quiet');
  const bytes = readFileSync(file), values = new Float32Array(bytes.buffer.slice(bytes.byteOffset + bytes.length - 4 * 72 * 36, bytes.byteOffset + bytes.length));
  const found = await page.evaluate(async () => {
    const { call } = await import('./engine.js');
    const of = { date: '2026-08-12', radii: 'nasa' }, { eclipse } = await call('eclipse', of);
    const white = [255, 255, 255];
    return [...await call('globe', {
      ...of, projection: 'flat', latitude_deg: 0, longitude_deg: 0, scale: 36 / Math.PI, middle: [36, 18], width: 72, height: 36,
      time_s: (Date.parse('2026-08-12T17:46:00Z') - Date.parse(eclipse.greatest)) / 1000,
      colors: { sea: white, land: white, ice: white, night: white, shadow: [0, 0, 0] },
    })];
  });
  // How dark a covered part is: see `color` in globe.rs.
  const shade = covered => 255 * (1 - (covered >= 1 ? 0.88 : 0.7 * covered ** 1.3));
  let most = 0, isSeen = 0;
  values.forEach((covered, i) => {
    isSeen += covered > 0;
    // The map is 0 at night; the picture ends at twilight.
    if (covered > 0) most = Math.max(most, Math.abs(found[4 * i] - shade(covered)));
  });
  assert.ok(isSeen > 200 && most < 1.5, `${isSeen} places, ${most} of 255`);
}));

test('the globe turns by hand, and frames are counted', () => visit('#eclipse=2027-08-02&place=25.7,32.6', async page => {
  await page.setViewportSize({ width: 1672, height: 840 });
  await drawn(page);
  const box = await page.locator('#globe').boundingBox();
  const frames = () => page.evaluate(() => Number(document.documentElement.dataset.frames));
  const first = await frames(), started = Date.now();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) { await page.mouse.move(box.x + 300 + 5 * i, box.y + 300); await page.waitForTimeout(25); }
  await page.mouse.up();
  const count = await frames() - first;
  console.log(`turning ${Math.round(box.width)} x ${Math.round(box.height)}: ${(1000 * count / (Date.now() - started)).toFixed(1)} frames per second`);
  assert.ok(count > 5);
  await until(page, () => /view=globe/.test(location.hash));
  // Two fingers move apart.
  const zoom = () => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get('view').split(',')[3]));
  const touch = await page.context().newCDPSession(page);
  const fingers = (type, apart) => touch.send('Input.dispatchTouchEvent', {
    type, touchPoints: apart ? [[-apart, 1], [apart, 2]].map(([x, id]) => ({ x: box.x + 500 + x, y: box.y + 350, id })) : [],
  });
  const whole = await zoom();
  await fingers('touchStart', 40);
  for (const apart of [50, 65, 80]) await fingers('touchMove', apart);
  await fingers('touchEnd');
  await until(page, old => Number(location.hash.match(/view=globe,[^&]*,([\d.]+)/)[1]) > 1.5 * old, whole);
  await page.mouse.wheel(0, 400);
  const near = await zoom();
  await until(page, old => Number(location.hash.match(/view=globe,[^&]*,([\d.]+)/)[1]) < 0.8 * old, near);
}));

test('rays from files give the results of the command line', () => visit('#tab=rays', async page => {
  await until(page, () => /of 121 rays hit a sphere/.test(document.querySelector('#rays-title')?.textContent));
  const samples = join(here, '../../systems/samples');
  const [spheres, rays] = [join(samples, 'spheres.csv'), join(samples, 'rays.csv')];
  await page.setInputFiles('#rays-spheres', spheres);
  await page.setInputFiles('#rays-rays', rays);
  await until(page, () => document.querySelector('#rays-rays-note').textContent === 'rays.csv: 12 rays');
  const same = async (spheres, rays, query) => {
    await page.selectOption('#rays-query', query);
    await until(page, () => !document.querySelector('#rays-save').disabled);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#rays-save')]);
    const file = join(folder, `${query}.csv`);
    run('cast', spheres, rays, '--query', query, ...(query === 'nearest' ? ['--k', '2'] : []), '-o', file, '--quiet');
    assert.equal(readFileSync(await download.path(), 'utf8'), readFileSync(file, 'utf8'), query);
  };
  for (const query of ['closest', 'interval', 'occluded', 'count', 'transmittance', 'approach', 'all', 'nearest']) await same(spheres, rays, query);
  await page.fill('#rays-id', '0');
  await page.press('#rays-id', 'Enter');
  assert.match(await text(page, '#rays-picked'), /^Sphere 0: centre 0, 0, 0; radius 1/);
  await page.fill('#rays-id', '999');
  await page.press('#rays-id', 'Enter');
  assert.match(await text(page, '#rays-id-error'), /'999' is not an id/);
  await page.fill('#rays-k', '0');
  assert.match(await text(page, '#rays-k-error'), /expected an integer/);
  const bad = join(folder, 'bad.csv');
  writeFileSync(bad, 'x,y,z,r\n0,0,0,1\n1,2,zero,1\n');
  await page.setInputFiles('#rays-spheres', bad);
  // A file that is dropped, and one that says to be larger than a tab can hold.
  const drop = (name, body, size) => page.evaluate(([name, body, size]) => {
    const file = new File([body], name);
    if (size) Object.defineProperty(file, 'size', { value: size });
    document.querySelector('#rays-stage').ondrop({ preventDefault() {}, dataTransfer: { files: [file] } });
  }, [name, body, size]);
  await until(page, () => /bad.csv.*line 3.*zero/.test(document.querySelector('#rays-spheres-error').textContent));
  await drop('one.xyz', '1\n\nC 0 0 0\n');
  await until(page, () => document.querySelector('#rays-spheres-note').textContent === 'one.xyz: 1 sphere');
  await drop('huge-rays.npy', '', 6e8);
  await until(page, () => /huge-rays.npy has 600 MB.*command line streams it/.test(document.querySelector('#rays-rays-error').textContent));
  // Times may be any.
  await drop('moving-spheres.csv', 'x,y,z,r,vx,vy,vz\n9,0,0,1,2,0,0\n');
  await drop('moving-rays.csv', 'ox,oy,oz,dx,dy,dz,time\n0,0,0,1,0,0,-3\n0,0,0,1,0,0,8\n');
  await page.selectOption('#rays-query', 'closest');
  await has(page, '#rays-table', /02\.0.*124\.0/);
  // Numbers of any size have the same text.
  const [points, along] = [join(folder, 'points.csv'), join(folder, 'along.csv')];
  const sizes = [1e-5, 1e-4, 0.00015, 0.5, 1e7, 1e15, 1e16, 2 ** 60, 1e21, 3e30];
  writeFileSync(points, `x,y,z,r\n${sizes.map((size, i) => `${size},${i},0,0`).join('\n')}\n`);
  writeFileSync(along, `ox,oy,oz,dx,dy,dz\n${sizes.map((_, i) => `0,${i},0,1,0,0`).join('\n')}\n`);
  await page.setInputFiles('#rays-spheres', points);
  await page.setInputFiles('#rays-rays', along);
  await until(page, () => document.querySelector('#rays-rays-note').textContent === 'along.csv: 10 rays');
  await same(points, along, 'closest');
}));

test('a bullet is answered as by the command line, and checked while it is typed', () => visit('#tab=bullets', async page => {
  await until(page, () => document.querySelector('#b-title')?.textContent === 'The bullet hits the sphere');
  const said = run('bullets', '--from', '0,0,0', '--to', '4,4,4', '--speed', '3', '--sphere', '4,4,0,4');
  const answer = await text(page, '#b-answer');
  const near = (pattern, words) => {
    const [own, other] = [answer.match(pattern), said.match(words)].map(found => found.slice(1).map(Number));
    own.forEach((one, i) => assert.ok(Math.abs(one - other[i]) < 1e-5, `${answer}\n${said}`));
  };
  near(/After([\d.]+) units, ([\d.]+) frames/, /distance of ([\d.]+), ([\d.]+) frames/);
  near(/Where([\d.]+), ([\d.]+), ([\d.]+)After/, /at ([\d.]+) ([\d.]+) ([\d.]+)\n/);
  near(/velocity(-?[\d.]+), (-?[\d.]+), (-?[\d.]+)$/, /velocity (-?[\d.]+) (-?[\d.]+) (-?[\d.]+)\n/);
  await page.fill('#b-speed', '-3');
  assert.match(await text(page, '#b-speed-error'), /-3 must be above 0/);
  assert.equal(await text(page, '#b-answer'), '');
  await page.fill('#b-speed', 'fast');
  assert.match(await text(page, '#b-speed-error'), /'fast' is not a number/);
  await page.fill('#b-speed', '2');
  await page.fill('#b-sx', '40');
  await until(page, () => document.querySelector('#b-title').textContent === 'The bullet misses');
}));

test('without WebGPU each tab answers, and without WebAssembly a sentence says what to do', async () => {
  for (const cut of Object.values(CUTS)) {
    await visit('#tab=rays', page => until(page, () => /rays hit a sphere/.test(document.querySelector('#rays-title')?.textContent)), cut);
  }
  const page = await browser.newPage();
  await page.addInitScript('delete globalThis.WebAssembly');
  await page.goto(server.origin);
  await until(page, () => /no WebAssembly.*command line/.test(document.querySelector('#notice').textContent));
  await page.close();
  // The module cannot be fetched.
  const other = await browser.newPage();
  await other.route('**/*.wasm', route => route.abort());
  await other.goto(server.origin);
  await until(other, () => /could not be started.*command line/.test(document.querySelector('#notice').textContent));
  assert.equal(await text(other, '#status'), 'No engine.');
  await other.close();
});

test('a lost GPU is told, and the CPU goes on', async () => {
  // The software adapter passes for hardware.
  const cut = "Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false });";
  const own = await launch(true);
  try {
    const page = await open(own, server, '/#tab=rays', cut);
    await until(page, () => /^Engine: WebGPU/.test(document.querySelector('#status').textContent) && /rays hit/.test(document.querySelector('#rays-title').textContent));
    const before = await text(page, '#rays-table tbody');
    await page.evaluate(loseGpu);
    await page.selectOption('#rays-query', 'closest');
    await until(page, () => /^The GPU was lost \(.+\), so the CPU goes on\. Engine: CPU/.test(document.querySelector('#status').textContent));
    assert.match(await text(page, '#rays-title'), /rays hit a sphere/);
    assert.equal(await text(page, '#rays-table tbody'), before);
    assert.deepEqual(page.faults, []);
  } finally {
    // Chromium whose GPU process has died may not close.
    await Promise.race([own.close(), new Promise(done => setTimeout(done, 5000))]);
  }
});

test("the browser's position is taken on request, and a refusal is told", async () => {
  for (const permissions of [['geolocation'], []]) {
    const context = await browser.newContext({ geolocation: { latitude: 36.0143, longitude: -5.6044 }, permissions });
    const page = await open(context, server, '/#eclipse=2027-08-02&place=25.7,32.6');
    await drawn(page);
    await page.click('#here');
    if (permissions.length) await until(page, () => /place=36\.0143,-5\.6044/.test(location.hash));
    else await until(page, () => /not allowed to tell its position/.test(document.querySelector('#place-error').textContent));
    assert.deepEqual(page.faults, []);
    await context.close();
  }
});

test('axe finds nothing in any tab, light or dark, wide or narrow', async () => {
  for (const [scheme, size] of [['light', [1280, 800]], ['dark', [1280, 800]], ['light', [390, 844]], ['dark', [390, 844]]]) {
    for (const hash of ['', '#tab=rays', '#tab=bullets', 'accuracy.html']) {
      await visit(hash, async page => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width: size[0], height: size[1] });
        if (hash === '') await drawn(page);
        if (hash.startsWith('#')) await until(page, () => /hit/.test(document.querySelector('#rays-title, #b-title')?.textContent));
        const { violations } = await page.evaluate(`${axe}; axe.run()`);
        const words = violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
        assert.deepEqual(words, [], `${scheme} ${size} ${hash}`);
        for (const width of size[0] < 400 ? [size[0], 320] : [size[0]]) {
          await page.setViewportSize({ width, height: size[1] });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `${scheme} ${width} ${hash}: ${wide} pixels wider than the window`);
        }
      });
    }
  }
});

/** Drops files on the plot of the rays: names and contents. */
const drop = (page, files) => page.evaluate(files => document.querySelector('#rays-stage').ondrop({
  preventDefault() {}, dataTransfer: { files: files.map(([name, body]) => new File([body], name)) },
}), files);
const [SPHERE, RAY] = ['x,y,z,r\n6,8,0,1\n', 'ox,oy,oz,dx,dy,dz\n0,0,0,3,4,0\n'];
const has = (page, selector, words) => until(page, ([selector, words]) => new RegExp(words).test(document.querySelector(selector)?.textContent), [selector, words.source]);

test('the columns of a dropped file decide what it is, and each file has its own error', () => visit('#tab=rays', async page => {
  await has(page, '#rays-title', /47 of 121 rays hit/);
  await drop(page, [['r_ok.csv', RAY], ['s_ok.csv', SPHERE]]);
  await has(page, '#rays-title', /^1 of 1 ray hits a sphere$/);
  assert.equal(await text(page, '#rays-spheres-note'), 's_ok.csv: 1 sphere');
  assert.equal(await text(page, '#rays-rays-note'), 'r_ok.csv: 1 ray');
  assert.deepEqual(await page.evaluate(() => ['spheres', 'rays'].map(one => document.querySelector(`#rays-${one}`).files[0].name)), ['s_ok.csv', 'r_ok.csv']);
  // A new file of spheres replaces own spheres, also if its name says rays. The fields that belong to the old ones are cleared.
  await page.fill('#rays-id', '7');
  await page.press('#rays-id', 'Enter');
  await has(page, '#rays-id-error', /from 0 to 0/);
  await drop(page, [['rays of light.txt', 'x,y,z,r\n6,8,0,1\n0,0,9,1\n']]);
  await has(page, '#rays-spheres-note', /^rays of light.txt: 2 spheres$/);
  assert.equal(await text(page, '#rays-id-error'), '');
  // Bad files: each error is in the box of the file's kind, and says what is shown instead.
  await drop(page, [['a.csv', RAY.replace('3', 'three')], ['b.txt', SPHERE.replace('8', '"0,8"')], ['c.csv', 'x,y,z,r\n0,5,1,0,1\n']]);
  await has(page, '#rays-rays-error', /^a.csv: line 2: dx is 'three': expected a number. It was not read; still: r_ok.csv.$/);
  await has(page, '#rays-spheres-error', /^c.csv: line 2: found 5 cells, expected 4, .*a number has a point, as in 0.5, and no comma. It was not read; still: rays of light.txt.$/);
  assert.equal(await page.evaluate(() => document.querySelector('#rays-spheres').files[0].name), 'rays of light.txt');
  for (const [body, words] of [
    [SPHERE.replace('8', '"0,8"'), /^one.txt: line 2: y is '0,8': write 0.8\. It/],
    ['x;y;z;r\n0,5;1,5;0;1\n', /separated by ';': expected commas, and points in numbers/],
    ['x,y,z,r\r\n\r\n0,0,0,-1\r\n', /^one.txt: line 3: r is -1/],
    ['x,y,z\n0,0,0\n', /column 'r' is missing; spheres need the columns x,y,z,r, optional [a-z,]*\. It/],
  ]) {
    await drop(page, [['one.txt', body]]);
    await has(page, '#rays-spheres-error', words);
  }
  await drop(page, [['one.xyz', '2\n\nC 0 0 0\nC 0 no 0\n']]);
  await has(page, '#rays-spheres-error', /^one.xyz: line 4: y is 'no'/);
  await drop(page, [['one.parquet', 'PAR1']]);
  await has(page, '#rays-spheres-error', /this page does not read .parquet: save it as .csv/);
  await drop(page, [['one.csv', 'x1,y1,z1,x2,y2,z2\n0,0,0,1,0,0\n']]);
  await has(page, '#rays-rays-error', /belongs to segments: a ray has a start and a direction/);
  await drop(page, [['one.csv', RAY.replace('ox,oy,oz', 'x,y,z')]]);
  await has(page, '#rays-rays-error', /column 'x' belongs to points: the start of a ray is ox,oy,oz;/);
  writeFileSync(join(folder, 'r_ok.csv'), RAY);
  // The box is empty while another file is chosen, so that the same one counts as another.
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('#rays-spheres')]);
  const held = () => page.evaluate(() => [...document.querySelector('#rays-spheres').files].map(one => one.name));
  assert.deepEqual(await held(), []);
  await page.dispatchEvent('#rays-spheres', 'cancel');
  assert.deepEqual(await held(), ['rays of light.txt']);
  await chooser.setFiles(join(folder, 'r_ok.csv'));
  await has(page, '#rays-spheres-error', /column 'ox' belongs to rays: leave it out, or choose the file under the other heading/);
  for (const one of ['spheres', 'rays']) assert.doesNotMatch(await text(page, `#rays-${one}-error`), /--|SPHERES/);
}));

test('atoms that are left out are told, and neither drawn nor picked', () => visit('#tab=rays', async page => {
  await has(page, '#rays-title', /47 of 121 rays hit/);
  const atom = (at, alternate, x, element) => `ATOM  ${String(at).padStart(5)} ${element.padStart(2)}  ${alternate}ALA A   1    ${x.toFixed(3).padStart(8)}   0.000   0.000  1.00 20.00          ${element.padStart(2)}\n`;
  await drop(page, [['alt.pdb', atom(1, 'A', 1, 'N') + atom(2, 'B', 2, 'N') + atom(3, ' ', 9, 'C') + atom(4, ' ', 5, 'XX')]]);
  await has(page, '#rays-spheres-note', /^alt.pdb: 2 spheres; note: left out 1 alternate location; warning: left out 1 atom of unknown element, such as 'XX' in line 4$/);
  await has(page, '#rays-text', /121 rays, 2 spheres,/);
  for (const id of ['1', '2']) {
    await page.fill('#rays-id', id);
    await page.press('#rays-id', 'Enter');
    assert.equal(await text(page, '#rays-id-error'), id === '1' ? 'Sphere 1 has mask 0: no ray hits it.' : '');
    assert.match(await text(page, '#rays-picked'), id === '1' ? /^Click/ : /^Sphere 2: centre 9, 0, 0;/);
  }
  await drop(page, [['two.xyz', '1\n\nC 0 0 0\n1\n\nC 1 0 0\n']]);
  await has(page, '#rays-spheres-note', /^two.xyz: 1 sphere; warning: left out 1 model after the first$/);
  const ids = await page.evaluate(async () => {
    const { Plot } = await import('./plot.js'), plot = new Plot(document.createElement('canvas'), () => {});
    plot.show({ spheres: new Float32Array(12), masks: Uint32Array.of(1, 0, 1) });
    return plot.ids;
  });
  assert.deepEqual(ids, [0, 2]);
}));

test('many results are saved in parts, and what fails is told', () => visit('#tab=rays', async page => {
  await has(page, '#rays-title', /47 of 121 rays hit/);
  await drop(page, [['r.csv', RAY.concat('0,0,0,3,4,0\n'.repeat(209_999))]]);
  await has(page, '#rays-rays-note', /210,000 rays/);
  await until(page, () => !document.querySelector('#rays-save').disabled);
  await page.evaluate(() => {
    const { createObjectURL } = URL;
    window.made = 0;
    URL.createObjectURL = blob => { window.made++; return createObjectURL.call(URL, blob); };
  });
  const [download, made] = await Promise.all([
    page.waitForEvent('download'),
    page.evaluate(() => { document.querySelector('#rays-save').click(); return window.made; }),
  ]);
  // The page is not held up.
  assert.equal(made, 0);
  assert.match(readFileSync(await download.path(), 'utf8'), /^t,id\n([\d.]*,\d*\n){210000}$/);
  await page.evaluate(() => { window.Blob = class { constructor() { throw new RangeError('no room'); } }; });
  await page.click('#rays-save');
  await has(page, '#rays-error', /^no room$/);
  await page.evaluate(() => { setTimeout(() => { throw new Error('odd'); }); });
  await has(page, '#notice', /^odd$/);
  assert.deepEqual(page.faults.splice(0), ['odd']);
}));

test('the result of rays is that of the controls, with the distance and the number of rows', () => visit('#tab=rays', async page => {
  await has(page, '#rays-title', /47 of 121 rays hit/);
  await drop(page, [['s.csv', SPHERE]]);
  await has(page, '#rays-title', /^0 of 121 rays hit a sphere$/);
  await drop(page, [['r.csv', RAY]]);
  await has(page, '#rays-title', /^1 of 1 ray hits/);
  assert.equal(await text(page, '#rays-table'), 'raytiddistance01.809.0'.replace('9.0', '9'));
  assert.match(await text(page, '#rays-units'), /distance = t × the length of the direction. The file has the columns t, id, and a row for each ray/);
  await drop(page, [['s.csv', 'x,y,z,r\n0,0,0,1\n'.concat(Array.from({ length: 12 }, (_, i) => `${3 * i},${4 * i},0,1\n`).join(''))]]);
  await page.selectOption('#rays-query', 'all');
  await has(page, '#rays-title', /^13 hits in all$/);
  assert.match(await text(page, '#rays-text'), /1 ray, 13 spheres, .*building the scene included. The first 8 of 13 rows:$/);
  assert.equal(await text(page, '#rays-table thead'), 'rayt_entert_exitiddistance');
  await page.selectOption('#rays-query', 'nearest');
  await has(page, '#rays-title', /^2 hits in all$/);
  await page.fill('#rays-k', '3');
  await has(page, '#rays-title', /^3 hits in all$/);
  await page.fill('#rays-k', 'x');
  await has(page, '#rays-title', /^No results$/);
  assert.equal(await text(page, '#rays-table'), '');
  assert.ok(await page.isDisabled('#rays-save'));
  await page.selectOption('#rays-query', 'closest');
  // An error of the query stays.
  await drop(page, [['r.csv', 'ox,oy,oz,dx,dy,dz,from_id\n0,0,0,1,0,0,99\n']]);
  await has(page, '#rays-error', /from_id is 99: the scene has no such sphere/);
  await page.waitForTimeout(200);
  assert.equal(await text(page, '#rays-title'), 'No results');
  await drop(page, [['r.csv', RAY]]);
  await page.selectOption('#rays-inside', 'exit');
  await has(page, '#rays-inside-hint', /hollow/);
  await until(page, () => /^00.20/.test(document.querySelector('#rays-table tbody').textContent));
  // A batch that takes long: the old result goes, and only the last choice counts.
  await page.evaluate(async () => {
    const { Device } = await import('./package/index.js'), { scene } = Device.prototype, title = document.querySelector('#rays-title');
    Device.prototype.scene = async function late(...args) { window.scenes++; await new Promise(done => setTimeout(done, 800)); return scene.apply(this, args); };
    Object.assign(window, { titles: new Set(), scenes: 0 });
    new MutationObserver(() => window.titles.add(title.textContent)).observe(title, { childList: true });
  });
  await page.selectOption('#rays-query', 'interval');
  await has(page, '#rays-title', /^Casting …$/);
  assert.equal(await text(page, '#rays-table'), '');
  await page.selectOption('#rays-query', 'count');
  await page.selectOption('#rays-query', 'occluded');
  await has(page, '#rays-title', /^1 of 1 ray is blocked$/);
  assert.deepEqual(await page.evaluate(() => [...window.titles, window.scenes]), ['Casting …', '1 of 1 ray is blocked', 2]);
  await page.click('#rays summary');
  for (const [what, words] of [['spheres', /^x,y,z,r\n(-?\d[^,]*,){3}0\.\d+\n/], ['rays', /^ox,oy,oz,dx,dy,dz\n-9.0,0.0,0.0,9.0,-4.0,-4.0\n/]]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`#rays-example-${what}`)]);
    assert.match(readFileSync(await download.path(), 'utf8'), words);
    await page.setInputFiles(`#rays-${what}`, await download.path().then(path => ({ name: `${what}.csv`, mimeType: 'text/csv', buffer: readFileSync(path) })));
    await has(page, `#rays-${what}-note`, new RegExp(`^${what}.csv: 1`));
  }
  await page.selectOption('#rays-query', 'closest');
  await page.selectOption('#rays-inside', 'enter');
  await has(page, '#rays-title', /^47 of 121 rays hit a sphere$/);
}));

test('a plot lets the page scroll, and the wheel zooms it when it has the focus', () => visit('#tab=rays', async page => {
  await page.setViewportSize({ width: 390, height: 700 });
  await has(page, '#rays-title', /47 of 121 rays hit/);
  const picture = () => page.evaluate(async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return document.querySelector('#rays-plot').toDataURL();
  });
  const first = await picture(), box = await page.locator('#rays-plot').boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.wheel(0, 200);
  await until(page, () => scrollY > 100);
  assert.ok(await picture() === first);
  await page.focus('#rays-plot');
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.wheel(0, 200);
  await until(page, first => document.querySelector('#rays-plot').toDataURL() !== first, first);
  assert.equal(await page.evaluate(() => scrollY), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('#rays-plot')).touchAction), 'pan-y');
  // In a wide window there is nothing to scroll.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.evaluate(() => document.activeElement.blur());
  await page.waitForTimeout(200);
  const wide = await picture();
  await page.mouse.wheel(0, -200);
  await until(page, wide => document.querySelector('#rays-plot').toDataURL() !== wide, wide);
}));

test('spheres in front cover points, and a start has a mark', () => visit('#tab=rays', async page => {
  const red = await page.evaluate(async () => {
    const { Plot } = await import('./plot.js');
    const canvas = document.createElement('canvas');
    document.body.append(canvas);
    Object.assign(canvas.style, { width: '200px', height: '200px' });
    const plot = new Plot(canvas, () => {}), spheres = Float32Array.of(0, 0, 0, 1, 0, 5, 0, 1);
    const pixel = async (of, yaw) => {
      Object.assign(plot, { yaw, pitch: 0 });
      plot.show({ spheres, ...of });
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      const [x, y] = plot.project([0, -1, 0]), sharp = canvas.width / 200;
      return [...canvas.getContext('2d').getImageData(Math.round(x * sharp), Math.round(y * sharp), 1, 1).data];
    };
    const points = [[0, -1, 0]];
    return [await pixel({ points }, 0), await pixel({ points }, Math.PI), await pixel({ starts: points }, 0)];
  });
  const isRed = ([r, g, b]) => r > 150 && g < 60 && b < 80;
  assert.deepEqual(red.map(isRed), [true, false, false], red.join(' '));
  // The fill of the mark is the colour of the background.
  assert.deepEqual(red[2], [233, 236, 242, 255]);
}));

test('a bullet is in the address, its room is reserved, and time that runs out is told', () => visit('#tab=bullets', async page => {
  await has(page, '#b-title', /hits/);
  const top = () => page.evaluate(() => document.querySelector('#b-form').getBoundingClientRect().top + document.querySelector('.two-sides:not([hidden]) .panel').scrollTop);
  const fill = async values => { for (const [id, value] of Object.entries(values)) await page.fill(`#b-${id}`, value); };
  const first = await top();
  assert.ok(await page.isHidden('#b-frames'));
  await fill({ x2: '1', y2: '0', z2: '0', speed: '2', bullet_radius: '0.5', sx: '10', sy: '0', r: '1', vx: '-1' });
  await has(page, '#b-answer', /^Centre of the bullet5.66667, 0, 0After5.66667 units, 2.83333 framesRicochet90.0000° \(1.5708 rad\) to the tangent plane, 0.0000° to the normal, seen from the sphereNew velocity-4, 0, 0Seen from the sphere-3, 0, 0$/);
  assert.equal(await top(), first);
  await fill({ frames: '2' });
  await has(page, '#b-title', /^No hit within 2 frames$/);
  assert.equal(await top(), first);
  await fill({ vx: '0' });
  await has(page, '#b-title', /^The bullet hits/);
  await fill({ speed: '0,5' });
  await has(page, '#b-speed-error', /'0,5' is not a number: write 0\.5\./);
  assert.ok(await page.evaluate(() => document.querySelector('#b-plot').classList.contains('stale')));
  assert.equal(await top(), first);
  await fill({ speed: '0.5' });
  assert.ok(await until(page, () => !document.querySelector('#b-plot').classList.contains('stale')));
  await until(page, () => location.hash.includes('bullet=0,0,0,1,0,0,0.5,0.5,10,0,0,1,0,0,0,1,2'));
  await page.reload();
  await has(page, '#b-answer', /After8.5 units, 17 frames/);
  assert.equal(await page.inputValue('#b-speed'), '0.5');
  assert.deepEqual(await page.evaluate(async () => (await import('./state.js')).state.refused), []);
}));

test('a bullet of a bad address is judged by the form, and rounding is no result', async () => {
  await visit('#tab=bullets&bullet=0,0,0,1,x', page => has(page, '#b-y2-error', /'x' is not a number/));
  // The engine says -4.440892e-16 for the y of the first place, and -0.27999994 for the x of the second velocity.
  for (const [bullet, words] of [
    ['-5,0,0,0,0,0,1,0,0,3,0,5,0,0,0,1,100', /^Where-4, 0, 0After1 units, 1 frames.*New velocity-0.28, -0.96, 0$/],
    ['-5,0.6,0,5,0.6,0,1,0,0,0,0,1,0,0,0,1,100', /^Where-0.8, 0.6, 0After4.2 units, 4.2 frames.*New velocity-0.28, 0.96, 0$/],
  ]) await visit(`#tab=bullets&bullet=${bullet}`, page => has(page, '#b-answer', words));
});
