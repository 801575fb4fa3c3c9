// The tab of rays: spheres and rays from files, a query, a plot and the results.

import { Device, NO_SPHERE } from './package/index.js';
import { make } from './dom.js';
import { MOST_RAYS, MOST_SPHERES, Plot } from './plot.js';
import { saveAs } from './save.js';

/** Largest file in bytes: text takes about as much memory again while it is read. */
const MOST_BYTES = 500e6;
const QUERIES = {
  closest: 'the first sphere of each ray', interval: 'where each ray enters and leaves the first sphere', occluded: 'whether a ray hits anything',
  count: 'how many spheres a ray hits', transmittance: 'what the spheres let through', approach: 'where a ray passes nearest to a surface',
  nearest: 'the first k spheres of each ray', all: 'all spheres of each ray',
};
const POLICIES = {
  inside: ['Starts inside a sphere', ['enter', 'exit', 'ignore']], touch: ['Touches a sphere', ['hit', 'miss']],
  precision: ['Precision', ['exact', 'standard', 'fast']],
};
const HTML = `
<div class="stage" id="rays-stage">
  <canvas id="rays-plot" tabindex="0" role="application" aria-label="Plot of spheres and rays" aria-describedby="rays-help"></canvas>
  <p id="rays-help" class="unseen">Arrow keys turn the plot, plus and minus zoom. The field Sphere below picks one by its id.</p>
  <p class="drop" id="rays-drop" hidden>Drop the files here</p>
  <p class="caption" id="rays-caption"></p>
</div>
<div class="panel">
  <div class="block">
    <label for="rays-spheres">Spheres</label>
    <input type="file" id="rays-spheres" accept=".npy,.csv,.ply,.xyz,.pdb,.f32,.spheres" aria-describedby="rays-spheres-error rays-spheres-note">
    <p class="quiet" id="rays-spheres-note"></p>
    <p class="error" id="rays-spheres-error" role="alert"></p>
    <label for="rays-rays">Rays</label>
    <input type="file" id="rays-rays" accept=".npy,.csv,.ply,.f32,.rays" aria-describedby="rays-rays-error rays-rays-note">
    <p class="quiet" id="rays-rays-note"></p>
    <p class="error" id="rays-rays-error" role="alert"></p>
    <p class="quiet">.npy, .csv, .ply, .xyz or .pdb: choose files or drop them on the plot. They are read in this tab; nothing leaves this computer.</p>
  </div>
  <form class="block" id="rays-form" novalidate>
    <label for="rays-query">Query</label>
    <select id="rays-query"></select>
    <div class="row" id="rays-k-row" hidden><label for="rays-k">k</label><input id="rays-k" inputmode="numeric" value="2" size="4" aria-describedby="rays-k-error"></div>
    <p class="error" id="rays-k-error" role="alert"></p>
    <div class="row two" id="rays-policies"></div>
    <button class="main" id="rays-cast">Cast</button>
    <p class="error" id="rays-error" role="alert"></p>
  </form>
  <div class="block">
    <h2 id="rays-title" aria-live="polite">…</h2>
    <p class="quiet" id="rays-text"></p>
    <div class="scroll" tabindex="0" role="region" aria-label="First results"><table id="rays-table"><thead></thead><tbody></tbody></table></div>
    <div class="row"><button id="rays-save" disabled>Download all as CSV</button></div>
  </div>
  <div class="block">
    <label for="rays-id">Sphere</label>
    <div class="row"><input id="rays-id" inputmode="numeric" placeholder="id, or click one" aria-describedby="rays-id-error"></div>
    <p class="error" id="rays-id-error" role="alert"></p>
    <p id="rays-picked" class="quiet">Click a sphere to pick it.</p>
  </div>
</div>`;

let plot, device, spheres, rays, results, columns = [];
const $ = id => document.getElementById(id);
const count = number => number.toLocaleString('en');
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? '' : 's'}`;

/** Begins the tab in a panel. */
export async function start(panel) {
  panel.classList.add('two-sides');
  panel.innerHTML = HTML;
  $('rays-query').replaceChildren(...Object.entries(QUERIES).map(([name, about]) => make('option', `${name}: ${about}`, { value: name })));
  $('rays-policies').replaceChildren(...Object.entries(POLICIES).map(([name, [label, words]]) =>
    make('label', [label, make('select', words.map(word => make('option', word)), { id: `rays-${name}` })])));
  plot = new Plot($('rays-plot'), pick);
  example();
  draw();
  $('rays-title').textContent = 'Starting the engine …';
  device = await Device.open();
  showDevice();
  for (const what of ['spheres', 'rays']) $(`rays-${what}`).onchange = event => event.target.files[0] && read(what, event.target.files[0]);
  const stage = $('rays-stage');
  stage.ondragover = event => { event.preventDefault(); $('rays-drop').hidden = false; };
  stage.ondragleave = () => { $('rays-drop').hidden = true; };
  stage.ondrop = async event => {
    event.preventDefault();
    $('rays-drop').hidden = true;
    for (const file of event.dataTransfer.files) await read(guess(file.name), file);
  };
  $('rays-query').onchange = () => { $('rays-k-row').hidden = $('rays-query').value !== 'nearest'; };
  $('rays-form').onsubmit = event => { event.preventDefault(); cast(); };
  $('rays-save').onclick = () => saveAs(`${$('rays-query').value}.csv`, 'text/csv', table(Infinity));
  $('rays-id').onchange = () => {
    const text = $('rays-id').value.trim(), id = Number(text), most = spheres.spheres.length / 4;
    const isGood = text !== '' && Number.isInteger(id) && id >= 0 && id < most;
    $('rays-id-error').textContent = text === '' || isGood ? '' : `'${text}' is not an id: expected an integer from 0 to ${most - 1}.`;
    pick(isGood ? id : null);
  };
  await cast();
}

function showDevice() {
  const helpers = Math.max(1, navigator.hardwareConcurrency ?? 1);
  const why = device.lost ? `The GPU was lost (${device.lost}), so the CPU goes on. ` : navigator.gpu ? '' : 'There is no WebGPU in this browser, so the CPU answers. ';
  $('status').textContent = why + (device.isCpu ? `Engine: CPU in WebAssembly, up to ${helpers} workers.` : `Engine: WebGPU, ${device.name || device.kind}.`);
}

/** Which of the two a dropped file is: by its name, else the one that is still the example. */
function guess(name) {
  if (/ray|segment/i.test(name)) return 'rays';
  if (/sphere|\.(xyz|pdb|ply)$/i.test(name)) return 'spheres';
  return spheres.isExample ? 'spheres' : 'rays';
}

/** Spheres and rays to begin with: those of a small cloud, and a fan of rays through it. */
function example() {
  let seed = 7;
  const random = () => { seed = (seed * 16807) % 2147483647; return seed / 2147483647; };
  const cloud = new Float32Array(4 * 160);
  for (let i = 0; i < 160; i++) {
    const [u, v, w] = [random(), random(), random()];
    const across = Math.sqrt(1 - (2 * u - 1) ** 2), r = 4 * Math.cbrt(v);
    cloud.set([r * across * Math.cos(2 * Math.PI * w), r * across * Math.sin(2 * Math.PI * w), r * (2 * u - 1), 0.12 + 0.4 * random() ** 2], 4 * i);
  }
  const origins = [], directions = [];
  for (let i = -5; i <= 5; i++) for (let j = -5; j <= 5; j++) { origins.push(-9, 0, 0); directions.push(9, 0.8 * i, 0.8 * j); }
  spheres = { spheres: cloud, name: 'example', isExample: true };
  rays = { origins: Float32Array.from(origins), directions: Float32Array.from(directions), name: 'example', isExample: true };
  note();
}

function note() {
  $('rays-spheres-note').textContent = `${spheres.name}: ${counted(spheres.spheres.length / 4, 'sphere')}`;
  $('rays-rays-note').textContent = `${rays.name}: ${counted(rays.origins.length / 3, 'ray')}`;
}

async function read(what, file) {
  const fail = text => { $(`rays-${what}-error`).textContent = text; if (text) $(`rays-${what}`).setAttribute('aria-invalid', 'true'); else $(`rays-${what}`).removeAttribute('aria-invalid'); };
  fail('');
  if (file.size > MOST_BYTES) {
    fail(`${file.name} has ${count(Math.round(file.size / 1e6))} MB, and a browser tab has too little memory for more than ${MOST_BYTES / 1e6} MB: umbracast cast on the command line streams it.`);
    return;
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const found = { ...await device.ask(`read_${what}`, file.name, bytes), name: file.name };
    const size = (found.spheres ?? found.origins).length;
    if (!size) throw new Error(`${file.name}: it has no ${what}`);
    if (what === 'spheres') spheres = found; else rays = found;
    note();
    pick(null);
    results = null;
    $('rays-save').disabled = true;
    $('rays-title').textContent = 'Ready to cast';
    $('rays-text').textContent = '';
    $('rays-table').tBodies[0].replaceChildren(); $('rays-table').tHead.replaceChildren();
    draw();
    if (!spheres.isExample && !rays.isExample) await cast();
  } catch (error) { fail(await named(error.message, file)); }
}

/** The message of a reader, with the line of a text instead of its byte. */
async function named(message, file) {
  const byte = /\bbyte (\d+)\b/.exec(message);
  if (!byte || !/\.csv$/i.test(file.name)) return message;
  const before = new Uint8Array(await file.slice(0, Number(byte[1])).arrayBuffer());
  return message.replace(byte[0], `line ${before.reduce((sum, one) => sum + (one === 10), 1)}`);
}

async function cast() {
  const query = $('rays-query').value;
  $('rays-error').textContent = ''; $('rays-k-error').textContent = '';
  const options = Object.fromEntries(Object.keys(POLICIES).map(name => [name, $(`rays-${name}`).value]));
  for (const name of ['t_min', 't_max', 'masks', 'skip_ids', 'from_ids', 'times', 'ray_radius']) if (rays[name]) options[name] = rays[name];
  const k = Number($('rays-k').value);
  if (query === 'nearest' && !(Number.isInteger(k) && k >= 1 && k <= 256)) { $('rays-k-error').textContent = `k is '${$('rays-k').value}': expected an integer from 1 to 256.`; return; }
  $('rays-cast').disabled = true;
  $('rays-title').textContent = 'Casting …';
  try {
    const started = performance.now();
    const { spheres: centers, name: _, isExample, ...more } = spheres;
    const scene = await device.scene(centers, more);
    const args = query === 'nearest' ? [k, rays.origins, rays.directions, options] : [rays.origins, rays.directions, options];
    results = await scene[query](...args);
    scene.free();
    const seconds = (performance.now() - started) / 1000, total = rays.origins.length / 3;
    columns = rowsOf(query);
    $('rays-title').textContent = summary(query, total);
    $('rays-text').textContent = `${counted(total, 'ray')}, ${counted(centers.length / 4, 'sphere')}, ${seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(1)} s`}, the tree included. Rows of the file:`;
    const [head, ...lines] = table(8).trimEnd().split('\n').map(line => line.split(','));
    const numbered = columns[0][0] !== 'ray';
    $('rays-table').tHead.replaceChildren(make('tr', [...(numbered ? ['ray'] : []), ...head].map(cell => make('th', cell, { scope: 'col' }))));
    $('rays-table').tBodies[0].replaceChildren(...lines.map((line, i) => make('tr', [...(numbered ? [String(i)] : []), ...line].map(cell => make('td', cell || 'miss', cell ? {} : { class: 'quiet' })))));
    $('rays-save').disabled = false;
    draw();
  } catch (error) {
    $('rays-error').textContent = error.message;
    $('rays-title').textContent = 'No results';
  }
  showDevice();
  $('rays-cast').disabled = false;
}

/** Columns of the results with the names of the command line, and the ray of each row if rows are not rays. */
function rowsOf(query) {
  if (query === 'occluded') return [['occluded', Array.from(results.occluded, Boolean)]];
  const names = ['t', 't_enter', 't_exit', 'clearance', 'count', 'transmittance', 'id'].filter(name => results[name]);
  const own = names.map(name => [name, results[name]]);
  if (!results.offsets) return own;
  const ray = new Uint32Array(results.offsets[results.offsets.length - 1]);
  for (let i = 0; i + 1 < results.offsets.length; i++) ray.fill(i, results.offsets[i], results.offsets[i + 1]);
  return [['ray', ray], ...own];
}

/** The first rows as CSV, as the command line writes it. */
function table(most) {
  const rows = Math.min(most, columns[0][1].length), out = [columns.map(([name]) => name).join(',')];
  // A miss has neither an id nor a place.
  const cell = ([, values], i) => results.id?.[i] === NO_SPHERE ? '' : values instanceof Float32Array ? shortest(values[i]) : values[i];
  for (let i = 0; i < rows; i++) out.push(columns.map(column => cell(column, i)).join(','));
  return `${out.join('\n')}\n`;
}

/** A float with as few digits as tell it from its neighbours. */
function shortest(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
  let digits = 1;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
  const text = Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(digits)));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function summary(query, total) {
  const share = (hits, words) => `${count(hits)} of ${count(total)} rays ${words}`;
  if (query === 'count') return `${count(results.count.reduce((sum, one) => sum + one, 0))} hits in all`;
  if (query === 'transmittance') return `Mean transmittance ${(results.transmittance.reduce((sum, one) => sum + one, 0) / total).toPrecision(4)}`;
  if (query === 'occluded') return share(results.occluded.reduce((sum, one) => sum + one, 0), 'are blocked');
  if (query === 'approach') return share(results.clearance.reduce((sum, one) => sum + (one <= 0), 0), 'reach a sphere');
  if (results.offsets) return `${count(results.id.length)} hits in all`;
  return share(results.id.reduce((sum, one) => sum + (one !== NO_SPHERE), 0), 'hit a sphere');
}

/** Draws the spheres, and rays as far as their first hit. */
function draw() {
  const segments = [], points = [], total = rays.origins.length / 3, step = Math.max(1, Math.ceil(total / MOST_RAYS));
  const [middle, reach] = extent(spheres.spheres);
  for (let i = 0; i < total; i += step) {
    const from = [...rays.origins.subarray(3 * i, 3 * i + 3)], d = rays.directions.subarray(3 * i, 3 * i + 3);
    const first = results?.offsets ? results.offsets[i] < results.offsets[i + 1] ? results.t_enter[results.offsets[i]] : Infinity : (results?.t ?? results?.t_enter)?.[i] ?? Infinity;
    const isHit = Number.isFinite(first) && !(results.clearance?.[i] > 0);
    const end = isHit ? first : Math.min(rays.t_max?.[i] ?? Infinity, (0.4 * reach + Math.hypot(...from.map((one, axis) => one - middle[axis]))) / Math.hypot(...d));
    const to = from.map((one, axis) => one + end * d[axis]);
    segments.push({ from, to, kind: isHit ? 'hit' : 'miss' });
    if (isHit) points.push(to);
  }
  plot.show({ spheres: spheres.spheres, segments, points });
  const all = spheres.spheres.length / 4, drawn = [Math.ceil(all / Math.ceil(all / MOST_SPHERES)), segments.length];
  $('rays-caption').textContent = drawn[0] < all || drawn[1] < total ? `Drawn: ${count(drawn[0])} of ${count(all)} spheres, ${count(drawn[1])} of ${count(total)} rays` : '';
}

/** The middle of the box of spheres, and half its diagonal. */
function extent(list) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < list.length; i++) {
    if (i % 4 === 3) continue;
    const r = list[i - i % 4 + 3];
    low[i % 4] = Math.min(low[i % 4], list[i] - r);
    high[i % 4] = Math.max(high[i % 4], list[i] + r);
  }
  return [low.map((one, i) => (one + high[i]) / 2), Math.hypot(...low.map((one, i) => high[i] - one)) / 2];
}

function pick(id) {
  plot.picked = id;
  plot.draw();
  if (id === null) { $('rays-picked').textContent = 'Click a sphere to pick it.'; return; }
  $('rays-id').value = id;
  $('rays-id-error').textContent = '';
  const [x, y, z, r] = spheres.spheres.subarray(4 * id, 4 * id + 4);
  const hits = results?.id ? ` Rays that hit it: ${count(results.id.reduce((sum, one) => sum + (one === id), 0))}.` : '';
  $('rays-picked').textContent = `Sphere ${id}: centre ${[x, y, z].map(one => Number(one.toPrecision(7))).join(', ')}; radius ${Number(r.toPrecision(7))}.${hits}`;
}
