// The tab of bullets: one bullet and one sphere, checked while typing, with the answer and a picture.

import { Device } from './package/index.js';
import { make } from './dom.js';
import { Plot } from './plot.js';
import { state, store } from './state.js';

/** Groups of fields: name, label, and what a number must be. */
const GROUPS = [
  ['Start of the bullet', [['x1', 'x', 0], ['y1', 'y', 0], ['z1', 'z', 0]]],
  ['Point it moves towards', [['x2', 'x', 4], ['y2', 'y', 4], ['z2', 'z', 4]]],
  ['Bullet', [['speed', 'speed, units per frame', 3, 'positive'], ['bullet_radius', 'radius', 0, 'not negative']]],
  ['Centre of the sphere', [['sx', 'x', 4], ['sy', 'y', 4], ['sz', 'z', 0]]],
  ['Sphere', [['r', 'radius', 4, 'not negative']]],
  ['Velocity of the sphere, per frame', [['vx', 'x', 0], ['vy', 'y', 0], ['vz', 'z', 0]]],
  ['Flight', [['bounces', 'ricochets', 1, 'count'], ['frames', 'longest flight, frames', 100, 'positive']]],
];
const FIELDS = GROUPS.flatMap(([group, fields]) => fields.map(field => [group, ...field]));
const $ = id => document.getElementById(id);
let device, plot, newest = 0, faced = '';

export async function start(panel) {
  panel.classList.add('two-sides');
  const given = state.bullet ?? FIELDS.map(([, , , value]) => value);
  const groups = GROUPS.map(([name, fields]) => make('fieldset', [
    make('legend', name),
    make('div', fields.map(([id, label]) => make('label', [make('span', label), make('input', '', { id: `b-${id}`, value: given[FIELDS.findIndex(field => field[1] === id)] ?? '', inputmode: 'decimal', autocomplete: 'off', 'aria-describedby': `b-${id}-error` })])), { class: 'fields' }),
    ...fields.map(([id]) => make('p', '', { class: 'error', id: `b-${id}-error`, role: 'alert' })),
  ]));
  panel.replaceChildren(
    make('div', [
      make('canvas', '', { id: 'b-plot', tabindex: 0, role: 'application', 'aria-label': 'Plot of the bullet and the sphere', 'aria-describedby': 'b-help' }),
      make('p', 'Arrow keys turn the plot, plus and minus zoom.', { id: 'b-help', class: 'unseen' }),
    ], { class: 'stage' }),
    make('div', [
      make('div', [make('h2', '…', { id: 'b-title', 'aria-live': 'polite' }), make('p', '', { id: 'b-text', class: 'quiet' }), make('dl', '', { id: 'b-answer' })], { class: 'block seen', id: 'b-result' }),
      make('form', groups, { class: 'block', id: 'b-form', novalidate: '' }),
    ], { class: 'panel' }),
  );
  plot = new Plot($('b-plot'), () => {});
  device = await Device.open('cpu');
  $('status').textContent = 'Engine: CPU in WebAssembly, in a worker.';
  $('b-form').oninput = answer;
  $('b-form').onsubmit = event => event.preventDefault();
  await answer();
}

/** The numbers of the fields; each fault is said next to its field. Null if there is one. */
function numbers(moves) {
  const out = {};
  let isGood = true;
  const tell = (id, text) => {
    $(`b-${id}-error`).textContent = text;
    if (text) $(`b-${id}`).setAttribute('aria-invalid', 'true'); else $(`b-${id}`).removeAttribute('aria-invalid');
    if (text) isGood = false;
  };
  for (const [group, id, label, , rule] of FIELDS) {
    const text = $(`b-${id}`).value.trim(), value = Number(text), name = `${group}, ${label.split(',')[0]}`;
    out[id] = value;
    if (id === 'frames' && !moves) { tell(id, ''); continue; }
    if (/^-?\d+,\d+$/.test(text)) tell(id, `${name}: '${text}' is not a number: write ${text.replace(',', '.')}.`);
    else if (text === '' || Number.isNaN(value)) tell(id, `${name}: '${text}' is not a number.`);
    else if (!Number.isFinite(Math.fround(value))) tell(id, `${name}: ${text} is too large: at most 3.4e38.`);
    else if (rule === 'positive' && !(value > 0)) tell(id, `${name}: ${text} must be above 0.`);
    else if (rule === 'not negative' && value < 0) tell(id, `${name}: ${text} must not be negative.`);
    else if (rule === 'count' && !(Number.isInteger(value) && value >= 1 && value <= 100)) tell(id, `${name}: ${text} must be an integer from 1 to 100.`);
    else tell(id, '');
  }
  if (isGood && out.x1 === out.x2 && out.y1 === out.y2 && out.z1 === out.z2) tell('x2', 'Point it moves towards: it must differ from the start, because it gives the direction.');
  return isGood ? out : null;
}

async function answer() {
  const own = ++newest, moves = ['vx', 'vy', 'vz'].some(id => Number($(`b-${id}`).value) !== 0), of = numbers(moves);
  // The time counts only if the sphere moves.
  $('b-frames').parentNode.hidden = !moves;
  if (!of) { fail('A field needs another value', ''); return; }
  store({ bullet: FIELDS.map(([, id]) => of[id]) });
  try {
    const options = moves ? { velocities: [of.vx, of.vy, of.vz], time_range: [0, of.frames] } : {};
    const scene = await device.scene([of.sx, of.sy, of.sz, of.r], options);
    const start = [of.x1, of.y1, of.z1], toward = [of.x2, of.y2, of.z2];
    const legs = await scene.bullets(start, toward, { speeds: [of.speed], bounces: of.bounces, ...(of.bullet_radius > 0 ? { radii: [of.bullet_radius] } : {}) });
    scene.free();
    if (own === newest) show(of, legs, start, toward, moves);
  } catch (error) { if (own === newest) fail('No answer', error.message); }
}

/** Says why there is no answer. The picture of the last one fades. */
function fail(title, text) {
  $('b-title').textContent = title;
  $('b-text').textContent = text;
  $('b-answer').replaceChildren();
  $('b-plot').classList.add('stale');
}

/** The digits that an f32 surely has. */
const short = value => String(Number(value.toPrecision(6)));
/** The components of a vector, down to the last digit that an f32 of a size surely has: what is below is rounding. */
const vector = (list, size) => {
  const unit = 10 ** (Math.floor(Math.log10(Math.max(size, ...list.map(Math.abs)))) - 5);
  return list.map(one => short(Math.round(one / unit) * unit || 0)).join(', ');
};

function show(of, legs, start, toward, moves) {
  const [HIT, MISS] = [0, 1], status = legs.status[0];
  const three = (list, i) => [...list.subarray(3 * i, 3 * i + 3)];
  const hits = [...legs.status].filter(one => one === HIT).length;
  $('b-title').textContent = status === HIT ? hits > 1 ? `The bullet hits ${hits} times` : 'The bullet hits the sphere' : status !== MISS ? 'The bullet starts inside the sphere' : moves ? `No hit within ${short(of.frames)} frames` : 'The bullet misses';
  $('b-text').textContent = '';
  const angle = legs.grazing_rad[0], degrees = angle * 180 / Math.PI, velocity = three(legs.velocity, 0), own = [of.vx, of.vy, of.vz];
  const rows = status !== HIT ? [] : [
    [of.bullet_radius > 0 ? 'Centre of the bullet' : 'Where', vector(three(legs.point, 0), Math.max(of.r, ...start.map(Math.abs)))],
    ['After', `${short(legs.distance[0])} units, ${short(legs.frames[0])} frames`],
    ['Ricochet', `${degrees.toFixed(4)}° (${short(angle)} rad) to the tangent plane, ${Math.max(0, 90 - degrees).toFixed(4)}° to the normal${moves ? ', seen from the sphere' : ''}`],
    ['New velocity', vector(velocity, of.speed)],
    ...(moves ? [['Seen from the sphere', vector(velocity.map((one, i) => one - own[i]), of.speed)]] : []),
  ];
  $('b-answer').replaceChildren(...rows.flatMap(([term, text]) => [make('dt', term), make('dd', text)]));
  const segments = [], points = [];
  let from = start, way = toward.map((one, i) => one - start[i]);
  for (let i = 0; i < legs.status.length; i++) {
    if (legs.status[i] !== HIT) break;
    const to = three(legs.point, i);
    segments.push({ from, to, kind: 'path' });
    points.push(to);
    from = to; way = three(legs.velocity, i);
  }
  // The first flight and its ricochet are in one plane: that of the picture, from above.
  const d = toward.map((one, i) => one - start[i]), c = [of.sx, of.sy, of.sz].map((one, i) => one - start[i]);
  const normal = [d[1] * c[2] - d[2] * c[1], d[2] * c[0] - d[0] * c[2], d[0] * c[1] - d[1] * c[0]];
  const plane = normal.join();
  if (plane !== faced) { plot.face(normal[2] < 0 ? normal.map(one => -one) : normal); faced = plane; }
  // The rest of the flight: as long as the scene is wide.
  const size = Math.max(1, of.r, Math.hypot(...start.map((one, i) => one - [of.sx, of.sy, of.sz][i]))), length = Math.hypot(...way) || 1;
  segments.push({ from, to: from.map((one, i) => one + way[i] / length * size * 1.2), kind: status === HIT ? 'path' : 'miss' });
  // A moving sphere is where the first hit is.
  const at = status === HIT ? legs.frames[0] : 0;
  const spheres = [of.sx + at * of.vx, of.sy + at * of.vy, of.sz + at * of.vz, of.r];
  if (of.bullet_radius > 0) spheres.push(...points[0] ?? start, of.bullet_radius);
  plot.picked = 1;
  $('b-plot').classList.remove('stale');
  plot.show({ spheres: Float32Array.from(spheres), segments, points, starts: [start] });
}
