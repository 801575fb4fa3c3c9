// The tab of rays: spheres and rays from files, a query, a plot and the results.

import { Device, NO_SPHERE } from './package/index.js';
import { make } from './dom.js';
import { MOST_RAYS, Plot } from './plot.js';
import { saveAs } from './save.js';

/** Largest file in bytes: text takes about as much memory again while it is read. */
const MOST_BYTES = 500e6;
/** Queries: what is asked, and a sentence on the answer. */
const QUERIES = {
  closest: ['the first sphere of each ray', 'A miss has empty cells.'],
  interval: ['where each ray enters and leaves the first sphere', 't_enter is negative if the line enters the sphere behind the start of the ray.'],
  occluded: ['whether a ray hits anything', 'The answer is true or false. It names no sphere.'],
  count: ['how many spheres a ray hits', 'Each sphere counts once.'],
  transmittance: ['what the spheres let through', '1 is all light, 0 is none. Spheres are opaque unless their file has a column transmittance.'],
  approach: ['where a ray passes nearest to a surface', 'clearance is the distance from there to the surface. It is negative inside a sphere: the depth below the surface.'],
  nearest: ['the first k spheres of each ray', 'Each sphere has a row. t_enter is negative if the sphere begins behind the start of the ray.'],
  all: ['all spheres of each ray', 'Each sphere has a row. t_enter is negative if the sphere begins behind the start of the ray.'],
};
/** Choices: the label, and a sentence on each value. The first one is the default. */
const POLICIES = {
  inside: ['Starts inside a sphere', {
    enter: 'Spheres are solid: a ray that starts inside hits at its start.',
    exit: 'Spheres are hollow: a ray that starts inside hits where it leaves.',
    ignore: 'A ray that starts inside a sphere does not hit that sphere.',
  }],
  touch: ['Touches a sphere', { hit: 'A tangent ray hits the sphere.', miss: 'A tangent ray misses the sphere.' }],
  precision: ['Precision', {
    exact: 'Every hit is decided without error. t is rounded once.',
    standard: 'A hit may be wrong only where a ray passes a surface within about 10⁻¹² of its distance from the sphere.',
    fast: 'The same within about 2 · 10⁻⁶ of the distance. The CPU computes standard instead.',
  }],
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
    <input type="file" id="rays-spheres" accept=".npy,.csv,.ply,.xyz,.pdb,.txt,.f32,.spheres" aria-describedby="rays-spheres-error rays-spheres-note">
    <p class="quiet" id="rays-spheres-note"></p>
    <p class="error" id="rays-spheres-error" role="alert"></p>
    <label for="rays-rays">Rays</label>
    <input type="file" id="rays-rays" accept=".npy,.csv,.ply,.txt,.f32,.rays" aria-describedby="rays-rays-error rays-rays-note">
    <p class="quiet" id="rays-rays-note"></p>
    <p class="error" id="rays-rays-error" role="alert"></p>
    <p class="quiet">Choose files or drop them on the plot. They are read in this tab; nothing leaves this computer.</p>
    <details>
      <summary>What must a file contain?</summary>
      <p>A .csv or .txt file begins with a line of column names. Commas separate the columns. Numbers have a point: 0.5.</p>
      <dl>
        <dt>Spheres</dt><dd><code>x,y,z,r</code>: centre and radius. Optional: <code>vx,vy,vz</code>, <code>transmittance</code>, <code>mask</code>.</dd>
        <dt>Rays</dt><dd><code>ox,oy,oz,dx,dy,dz</code>: start and direction. Optional: <code>t_min,t_max</code> (the ray counts between them; 0 and inf if absent), <code>radius</code>, <code>time</code>, <code>mask</code>, <code>skip_id</code>, <code>from_id</code>.</dd>
        <dt>.npy</dt><dd>An array with the columns <code>x,y,z,r</code>, or <code>ox,oy,oz,dx,dy,dz</code> and possibly <code>t_min,t_max</code>.</dd>
        <dt>.ply</dt><dd>Vertices with properties of these names.</dd>
        <dt>.xyz, .pdb</dt><dd>Atoms. The radii are the van der Waals radii of the elements, in ångström.</dd>
      </dl>
      <p>The example as files:</p>
      <div class="row"><button type="button" id="rays-example-spheres">spheres.csv</button><button type="button" id="rays-example-rays">rays.csv</button></div>
    </details>
  </div>
  <form class="block" id="rays-form" novalidate>
    <label for="rays-query">Query</label>
    <select id="rays-query" aria-describedby="rays-query-hint"></select>
    <p class="quiet" id="rays-query-hint"></p>
    <div class="row" id="rays-k-row" hidden><label for="rays-k">k</label><input id="rays-k" inputmode="numeric" value="2" size="4" aria-describedby="rays-k-error"></div>
    <p class="error" id="rays-k-error" role="alert"></p>
    <div id="rays-policies"></div>
    <p class="error" id="rays-error" role="alert"></p>
  </form>
  <div class="block" id="rays-results">
    <h2 id="rays-title" aria-live="polite">…</h2>
    <p class="quiet" id="rays-text"></p>
    <div class="scroll" tabindex="0" role="region" aria-label="First results"><table id="rays-table"><thead></thead><tbody></tbody></table></div>
    <p class="quiet" id="rays-units"></p>
    <div class="row"><button id="rays-save" disabled>Download all as CSV</button></div>
  </div>
  <div class="block">
    <label for="rays-id">Sphere</label>
    <div class="row"><input id="rays-id" inputmode="numeric" placeholder="id, or click one" aria-describedby="rays-id-error"></div>
    <p class="error" id="rays-id-error" role="alert"></p>
    <p id="rays-picked" class="quiet">Click a sphere to pick it.</p>
  </div>
</div>`;

let plot, device, spheres, rays, results = null, columns = [], newest = 0, busy = Promise.resolve();
/** The files that are shown; null for the example. */
const files = { spheres: null, rays: null };
const $ = id => document.getElementById(id);
const count = number => number.toLocaleString('en');
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? '' : 's'}`;

/** Begins the tab in a panel. */
export async function start(panel) {
  panel.classList.add('two-sides');
  panel.innerHTML = HTML;
  $('rays-query').replaceChildren(...Object.entries(QUERIES).map(([name, [about]]) => make('option', `${name}: ${about}`, { value: name })));
  $('rays-policies').replaceChildren(...Object.entries(POLICIES).flatMap(([name, [label, words]]) => [
    make('label', [label, make('select', Object.keys(words).map(word => make('option', word)), { id: `rays-${name}`, 'aria-describedby': `rays-${name}-hint` })]),
    make('p', '', { class: 'quiet', id: `rays-${name}-hint` }),
  ]));
  plot = new Plot($('rays-plot'), pick);
  makeExample();
  draw();
  $('rays-title').textContent = 'Starting the engine …';
  device = await Device.open();
  showDevice();
  for (const what of ['spheres', 'rays']) {
    $(`rays-${what}`).onchange = event => event.target.files[0] && read(what, event.target.files[0]);
    // The same file may be chosen again: only an empty box tells of it.
    $(`rays-${what}`).onclick = event => { event.target.value = ''; };
    $(`rays-${what}`).oncancel = note;
  }
  const stage = $('rays-stage');
  stage.ondragover = event => { event.preventDefault(); $('rays-drop').hidden = false; };
  stage.ondragleave = () => { $('rays-drop').hidden = true; };
  stage.ondrop = async event => {
    event.preventDefault();
    $('rays-drop').hidden = true;
    for (const file of [...event.dataTransfer.files]) await read(null, file);
  };
  $('rays-form').oninput = cast;
  $('rays-form').onsubmit = event => event.preventDefault();
  const split = (names, values) => names.map((name, i) => [name, values.filter((_, at) => at % names.length === i)]);
  const example = {
    spheres: split(['x', 'y', 'z', 'r'], spheres.spheres),
    rays: [...split(['ox', 'oy', 'oz'], rays.origins), ...split(['dx', 'dy', 'dz'], rays.directions)],
  };
  for (const [what, of] of Object.entries(example)) $(`rays-example-${what}`).onclick = () => saveAs(`${what}.csv`, 'text/csv', heads(of) + table(of, 0, Infinity));
  $('rays-save').onclick = () => saveAll(`${$('rays-query').value}.csv`, columns, results.id).catch(error => { $('rays-error').textContent = error.message; });
  $('rays-id').onchange = () => {
    const text = $('rays-id').value.trim(), id = Number(text), most = spheres.spheres.length / 4;
    const isGood = text !== '' && Number.isInteger(id) && id >= 0 && id < most, isHidden = spheres.masks?.[id] === 0;
    pick(isGood && !isHidden ? id : null);
    $('rays-id-error').textContent = text === '' ? '' : !isGood ? `'${text}' is not an id: expected an integer from 0 to ${most - 1}.` : isHidden ? `Sphere ${id} has mask 0: no ray hits it.` : '';
  };
  cast();
  await busy;
}

function showDevice() {
  const helpers = Math.max(1, navigator.hardwareConcurrency ?? 1);
  const why = device.lost ? `The GPU was lost (${device.lost}), so the CPU goes on. ` : navigator.gpu ? '' : 'There is no WebGPU in this browser, so the CPU answers. ';
  $('status').textContent = why + (device.isCpu ? `Engine: CPU in WebAssembly, up to ${helpers} workers.` : `Engine: WebGPU, ${device.name || device.kind}.`);
}

/** Spheres and rays to begin with: those of a small cloud, and a fan of rays through it. */
function makeExample() {
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
  spheres = { spheres: cloud };
  rays = { origins: Float32Array.from(origins), directions: Float32Array.from(directions) };
  note();
}

/** Number of spheres: an atom that is left out has mask 0, and keeps its id. */
const sphereCount = () => spheres.masks ? spheres.masks.reduce((sum, mask) => sum + (mask !== 0), 0) : spheres.spheres.length / 4;

/** Says which files are shown, also in their boxes, and what was left out of them. */
function note() {
  const sizes = { spheres: sphereCount(), rays: rays.origins.length / 3 };
  const { alternate_locations, unknown_atoms, first_unknown, models } = spheres.left_out ?? {};
  const left = [
    alternate_locations && `note: left out ${counted(alternate_locations, 'alternate location')}`,
    unknown_atoms && `warning: left out ${counted(unknown_atoms, 'atom')} of unknown element, such as ${first_unknown}`,
    models && `warning: left out ${counted(models, 'model')} after the first`,
  ].filter(Boolean);
  for (const [what, file] of Object.entries(files)) {
    const words = [`${file?.name ?? 'example'}: ${counted(sizes[what], what.slice(0, -1))}`, ...(what === 'spheres' ? left : [])];
    $(`rays-${what}-note`).textContent = words.join('; ');
    const held = new DataTransfer();
    if (file) held.items.add(file);
    $(`rays-${what}`).files = held.files;
  }
}

/** Reads a file as spheres or rays. `what` is null for a file that is dropped: the reader that accepts its columns decides. */
async function read(what, file) {
  const fail = (what, text) => {
    $(`rays-${what}-error`).textContent = text;
    if (text) $(`rays-${what}`).setAttribute('aria-invalid', 'true'); else $(`rays-${what}`).removeAttribute('aria-invalid');
  };
  const kinds = what ? [what] : /ray/i.test(file.name) ? ['rays', 'spheres'] : ['spheres', 'rays'];
  const refusals = {};
  try {
    if (file.size > MOST_BYTES) {
      throw new Error(`${file.name} has ${count(Math.round(file.size / 1e6))} MB, and a browser tab has too little memory for more than ${MOST_BYTES / 1e6} MB: umbracast cast on the command line streams it.`);
    }
    const [kind, found] = await accepted(kinds, file, refusals);
    const size = (found.spheres ?? found.origins).length;
    if (!size) throw new Error(`${file.name}: it has no ${kind}`);
    if (found.left_out) found.left_out.first_unknown = await inLines(found.left_out.first_unknown, file);
    fail(kind, '');
    files[kind] = file;
    if (kind === 'spheres') spheres = found; else rays = found;
    note();
    if (kind === 'spheres') { $('rays-id').value = ''; $('rays-id-error').textContent = ''; pick(null); }
    cast();
  } catch (error) {
    const kind = kinds.find(one => refusals[one] && !BELONGS.test(refusals[one])) ?? kinds[0];
    note();
    fail(kind, `${await plain(refusals[kind] ?? error.message, file)} It was not read; still: ${files[kind]?.name ?? 'example'}.`);
  }
}

/** The first of some kinds whose reader accepts a file, and what it read. Refusals are collected. */
async function accepted(kinds, file, refusals) {
  for (const kind of kinds) {
    try {
      // A text that is named .txt is read as CSV.
      return [kind, await device.ask(`read_${kind}`, file.name.replace(/\.txt$/i, '.csv'), new Uint8Array(await file.arrayBuffer()))];
    } catch (error) { refusals[kind] = error.message; }
  }
  throw new Error(refusals[kinds[0]]);
}

/** A refusal of a file that is of the other kind. */
const BELONGS = /the order of the files|cannot read rays|unknown column 'x1'/;
/** What the messages of the readers say of the command line, and what the page says instead. */
const PLAIN = [
  [/column '(\w+)' belongs to (rays|spheres); the order of [^;]*/, "column '$1' belongs to $2: leave it out, or choose the file under the other heading"],
  [/(column '\w+' belongs to points); to cast [^;]*/, '$1: the start of a ray is ox,oy,oz'],
  [/(column '\w+' belongs to segments); to cast [^;]*/, '$1: a ray has a start and a direction, ox,oy,oz,dx,dy,dz'],
  [/; points need a column with a radius, or --sphere-radius/, ''],
  [/this umbracast was built without Parquet: .*/, 'this page does not read .parquet: save it as .csv, with the same columns'],
  [/ \.parquet,/, ''],
  [/; other columns need [^;]*/, '; leave out other columns'],
  [/; the order of the files is [^;]*/, ''],
  [/is '(-?\d+),(\d+)': expected a number/, "is '$1,$2': write $1.$2"],
  [/separated by '(.*)': expected commas/, "separated by '$1': expected commas, and points in numbers, as in 0.5,1.5,0,1"],
  [/(found \d+ cells, expected \d+, [^;]*)/, '$1; a number has a point, as in 0.5, and no comma'],
];

/** The message of a reader in the words of the page. */
async function plain(message, file) {
  let out = message.replace(file.name.replace(/\.txt$/i, '.csv'), () => file.name);
  for (const [words, own] of PLAIN) out = out.replace(words, own);
  return (await inLines(out, file)).replace(/\.?$/, '.');
}

/** A message with the line of a text instead of its byte. */
async function inLines(message, file) {
  const [, before, byte] = /^(.*(?:: | in ))byte (\d+)(?:$|:)/.exec(message) ?? [];
  if (!byte) return message;
  // The reader skips the ends of lines after this byte, too.
  const start = Number(byte), text = new Uint8Array(await file.slice(0, start + 4096).arrayBuffer());
  let [at, line] = [0, 1];
  for (; at < start || text[at] === 10 || text[at] === 13; at++) line += text[at] === 10;
  return `${before}line ${line}${message.slice(before.length + 5 + byte.length)}`;
}

/** Casts as the controls say. If they change meanwhile, only the last one counts. */
function cast() {
  const own = ++newest, query = $('rays-query').value, k = Number($('rays-k').value);
  const options = Object.fromEntries(Object.keys(POLICIES).map(name => [name, $(`rays-${name}`).value]));
  for (const name of ['t_min', 't_max', 'masks', 'skip_ids', 'from_ids', 'times', 'ray_radius']) if (rays[name]) options[name] = rays[name];
  $('rays-k-row').hidden = query !== 'nearest';
  $('rays-query-hint').textContent = QUERIES[query][1];
  for (const name of Object.keys(POLICIES)) $(`rays-${name}-hint`).textContent = POLICIES[name][1][options[name]];
  const isGood = query !== 'nearest' || (Number.isInteger(k) && k >= 1 && k <= 256);
  $('rays-k-error').textContent = isGood ? '' : `k is '${$('rays-k').value}': expected an integer from 1 to 256.`;
  $('rays-error').textContent = '';
  $('rays-save').disabled = true;
  $('rays-results').setAttribute('aria-busy', isGood);
  if (!isGood) { clear('No results'); return; }
  // A batch that takes longer leaves nothing of the result before it.
  setTimeout(() => { if (own === newest && $('rays-results').ariaBusy === 'true') clear('Casting …'); }, 150);
  busy = busy.then(() => own === newest ? answer(own, query, k, options) : null);
}

/** Takes the results away. */
function clear(title) {
  results = null;
  $('rays-title').textContent = title;
  for (const id of ['rays-text', 'rays-units']) $(id).textContent = '';
  for (const part of [$('rays-table').tHead, $('rays-table').tBodies[0]]) part.replaceChildren();
  draw();
}

async function answer(own, query, k, options) {
  try {
    const started = performance.now(), { spheres: centers, left_out, ...more } = spheres, { origins, directions } = rays;
    // Times that are no numbers are the ray's fault, not that of the range.
    const times = rays.times?.filter(Number.isFinite) ?? [];
    const time_range = [times.reduce((a, b) => Math.min(a, b), 0), times.reduce((a, b) => Math.max(a, b), 1)];
    const scene = await device.scene(centers, { ...more, time_range });
    const found = await scene[query](...query === 'nearest' ? [k] : [], origins, directions, options).finally(() => scene.free());
    if (own !== newest) return;
    results = found;
    show(query, (performance.now() - started) / 1000);
  } catch (error) {
    if (own !== newest) return;
    $('rays-error').textContent = error.message;
    clear('No results');
  }
  $('rays-results').setAttribute('aria-busy', false);
  showDevice();
}

function show(query, seconds) {
  const total = rays.origins.length / 3;
  columns = rowsOf(query);
  const rows = columns[0][1].length, shown = Math.min(8, rows), names = columns.map(([name]) => name), isListed = names[0] === 'ray';
  $('rays-title').textContent = summary(query, total);
  const sizes = `${counted(total, 'ray')}, ${counted(sphereCount(), 'sphere')}`;
  const time = seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(1)} s`;
  $('rays-text').textContent = `${sizes}, ${time}, building the scene included. ${rows > shown ? `The first ${shown} of ` : ''}${counted(rows, 'row')}:`;
  // The table has the columns of the file, before them the ray, and after them the distance.
  const from = ['t', 't_enter'].find(name => names.includes(name));
  const lines = table(columns, 0, shown, results.id).split('\n').slice(0, -1).map((line, i) => {
    const cells = line.split(','), ray = isListed ? Number(cells[0]) : i, t = cells[names.indexOf(from)];
    const length = Math.hypot(...rays.directions.subarray(3 * ray, 3 * ray + 3));
    const distance = from ? [t ? String(Number((Number(t.replace('inf', 'Infinity')) * length).toPrecision(7))) : ''] : [];
    return make('tr', [...(isListed ? [] : [make('th', String(ray), { scope: 'row' })]), ...[...cells, ...distance].map(cell => make('td', cell))]);
  });
  const titles = [...(isListed ? [] : ['ray']), ...names, ...(from ? ['distance'] : [])];
  $('rays-table').tHead.replaceChildren(make('tr', titles.map(cell => make('th', cell, { scope: 'col' }))));
  $('rays-table').tBodies[0].replaceChildren(...lines);
  const units = from ? `t counts in lengths of the direction: distance = ${from} × the length of the direction. ` : '';
  $('rays-units').textContent = `${units}The file has the column${names.length === 1 ? '' : 's'} ${names.join(', ')}${isListed ? '' : ', and a row for each ray, in their order'}.`;
  $('rays-save').disabled = false;
  draw();
  pick(plot.picked);
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

/** Offers all rows as a download. They may be longer than one text, and take longer than the page may wait. */
async function saveAll(name, columns, ids) {
  const parts = [heads(columns)], rows = 100_000;
  for (let from = 0; from < columns[0][1].length; from += rows) {
    parts.push(new Blob([table(columns, from, from + rows, ids)]));
    await new Promise(done => setTimeout(done));
  }
  saveAs(name, 'text/csv', new Blob(parts));
}

const heads = columns => `${columns.map(([name]) => name).join(',')}\n`;

/** Rows of columns as CSV, as the command line writes it. */
function table(columns, from, to, ids) {
  const out = [], end = Math.min(to, columns[0][1].length);
  // A miss has neither an id nor a place.
  const cell = ([, values], i) => ids?.[i] === NO_SPHERE ? '' : values instanceof Float32Array ? shortest(values[i]) : values[i];
  for (let i = from; i < end; i++) out.push(`${columns.map(column => cell(column, i)).join(',')}\n`);
  return out.join('');
}

/** A float with as few digits as tell it from its neighbours, and from 10¹⁶ and below 10⁻⁴ with an exponent. */
function shortest(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
  let digits = 1;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
  const number = Number(value.toPrecision(digits)), size = Math.abs(number);
  if (size >= 1e16 || (size && size < 1e-4)) return number.toExponential().replace('+', '');
  const text = Object.is(value, -0) ? '-0' : String(number);
  return text.includes('.') ? text : `${text}.0`;
}

function summary(query, total) {
  const share = (hits, [one, many], rest) => `${count(hits)} of ${counted(total, 'ray')} ${hits === 1 || total === 1 ? one : many}${rest}`;
  if (query === 'count') return `${counted(results.count.reduce((sum, one) => sum + one, 0), 'hit')} in all`;
  if (query === 'transmittance') return `Mean transmittance ${(results.transmittance.reduce((sum, one) => sum + one, 0) / total).toPrecision(4)}`;
  if (query === 'occluded') return share(results.occluded.reduce((sum, one) => sum + one, 0), ['is', 'are'], ' blocked');
  if (query === 'approach') return share(results.clearance.reduce((sum, one) => sum + (one <= 0), 0), ['reaches', 'reach'], ' a sphere');
  if (results.offsets) return `${counted(results.id.length, 'hit')} in all`;
  return share(results.id.reduce((sum, one) => sum + (one !== NO_SPHERE), 0), ['hits', 'hit'], ' a sphere');
}

/** Draws the spheres, and rays as far as their first hit. */
function draw() {
  const segments = [], points = [], starts = [], total = rays.origins.length / 3, step = Math.max(1, Math.ceil(total / MOST_RAYS));
  const [middle, reach] = extent(spheres.spheres);
  for (let i = 0; i < total; i += step) {
    const from = [...rays.origins.subarray(3 * i, 3 * i + 3)], d = rays.directions.subarray(3 * i, 3 * i + 3);
    const first = results?.offsets ? results.offsets[i] < results.offsets[i + 1] ? results.t_enter[results.offsets[i]] : Infinity : (results?.t ?? results?.t_enter)?.[i] ?? Infinity;
    const isHit = Number.isFinite(first) && !(results.clearance?.[i] > 0);
    const end = isHit ? first : Math.min(rays.t_max?.[i] ?? Infinity, (0.4 * reach + Math.hypot(...from.map((one, axis) => one - middle[axis]))) / Math.hypot(...d));
    const to = from.map((one, axis) => one + end * d[axis]);
    segments.push({ from, to, kind: isHit ? 'hit' : 'miss' });
    starts.push(from);
    if (isHit) points.push(to);
  }
  plot.show({ ...spheres, segments, points, starts });
  const all = sphereCount(), drawn = [plot.ids.length, segments.length];
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
  if ($('rays-id').value !== String(id)) { $('rays-id').value = id; $('rays-id-error').textContent = ''; }
  const [x, y, z, r] = spheres.spheres.subarray(4 * id, 4 * id + 4);
  const hits = results?.id ? ` Rays that hit it: ${count(results.id.reduce((sum, one) => sum + (one === id), 0))}.` : '';
  $('rays-picked').textContent = `Sphere ${id}: centre ${[x, y, z].map(one => Number(one.toPrecision(7))).join(', ')}; radius ${Number(r.toPrecision(7))}.${hits}`;
}
