// The tab of eclipses: the map, the observer, and what the observer sees.

import { call } from './engine.js';
import { View, coastVectors, control, graticule, vectors } from './earth.js';
import { make } from './dom.js';
import { drawSun } from './sun.js';
import { saveAs, csv, svg } from './save.js';
import { state, store } from './state.js';
import { Clock, zones } from './times.js';

const $ = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = name => [1, 3, 5].map(i => parseInt(css(name).slice(i, i + 2), 16));
const degrees = (value, [plus, minus], decimals = 2) => `${Math.abs(value).toFixed(decimals)}° ${value < 0 ? minus : plus}`;
const capital = text => text[0].toUpperCase() + text.slice(1);
/** A duration. Tenths of a second are known only if the error is below one. */
const lasting = (seconds, error = 0) => {
  const whole = Math.round(seconds);
  return whole < 60 ? `${error < 1 ? seconds.toFixed(1) : whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
};

/** A covered part. It is 100 % only in a total eclipse: the radius of the Moon for partial phases is a little larger. */
const percent = (value, kind) => kind === 'total' ? '100 %' : value > 0.995 ? `${Math.min(99.99, Math.floor(1e4 * value) / 100).toFixed(2)} %` : `${(100 * value).toFixed(1)} %`;

/** Options of the engine and of the command line for the choices of radii. */
const RADII = {
  nasa: { options: { radii: 'nasa' }, command: '--radii nasa' },
  quaglia: { options: { radii: 'nasa', sun_radius: 959.95 }, command: '--radii nasa --sun-radius 959.95' },
  iau: { options: { radii: 'iau' }, command: '' },
};
const CONTACTS = [
  ['c1', 'Partial begins', 'C1'], ['c2', 'begins', 'C2'], ['maximum', 'Maximum', ''], ['c3', 'ends', 'C3'], ['c4', 'Partial ends', 'C4'],
];

const view = new View();
const canvas = $('globe'), context = canvas.getContext('2d');
const raster = document.createElement('canvas');
let list = [];
let shown = null;       // what the engine knows of the eclipse: record, lines, span
let changed = Promise.resolve(); // fulfilled when the eclipse of the state is shown
let coasts = [], cities = [];
let time = 0;           // seconds from the greatest eclipse
let followsMaximum = true; // whether the time is that of the maximum at the observer, until it is set by hand
let clock = new Clock('UTC');
let quality = 1, isBusy = false, isAgain = false, settle = 0, playing = 0;
let drawn = null;       // the last instant that was drawn

const wanted = () => ({ date: state.eclipse, ...RADII[state.radii].options });
const command = () => {
  const at = state.city ? `--city "${state.city}"` : `--place=${state.place.map(one => Number(one.toFixed(5))).join(',')}`;
  return `umbracast circumstances ${state.eclipse} ${at} ${RADII[state.radii].command}`.trim();
};

// The map

/** Colour, width and dashes of each kind of line. */
const STROKES = {
  total: ['--path', 1.8], annular: ['--path', 1.8, [7, 4]], limit: ['--path', 1],
  horizon: ['--horizon', 1.3], 'at-maximum': ['--horizon', 1, [5, 4]], partial: ['--horizon', 1, [2, 3]],
};

function colors() {
  return { sea: rgb('--sea'), land: rgb('--land'), ice: rgb('--ice'), night: rgb('--night'), shadow: rgb('--shadow') };
}

function request(of, share, at) {
  return {
    ...wanted(), projection: of.projection, latitude_deg: of.latitude, longitude_deg: of.longitude, scale: of.scale * share,
    middle: of.middle.map(one => one * share), width: Math.max(1, Math.round(of.width * share)), height: Math.max(1, Math.round(of.height * share)),
    time_s: at, colors: colors(),
  };
}

/** Asks for a frame. While the view or the time moves, frames have fewer pixels, so that one takes 40 ms. */
function refresh(isMoving = false) {
  clearTimeout(settle);
  if (isMoving) settle = setTimeout(() => refresh(), 160);
  if (isBusy) { isAgain = isAgain || { isMoving }; isAgain.isMoving &&= isMoving; return; }
  frame(isMoving);
}

async function frame(isMoving) {
  isBusy = true;
  const of = view.copy(), at = time, started = performance.now();
  const sharp = Math.min(2, devicePixelRatio);
  const share = isMoving ? quality : sharp;
  try {
    if (shown && coasts.length) {
      const asked = request(of, share, at);
      const [pixels, now] = await Promise.all([call('globe', asked), call('instant', { ...wanted(), time_s: at, place: observer() })]);
      raster.width = asked.width; raster.height = asked.height;
      raster.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), asked.width, asked.height), 0, 0);
      drawn = now;
      showInstant(now);
    }
    if (canvas.width !== Math.round(of.width * sharp) || canvas.height !== Math.round(of.height * sharp)) {
      canvas.width = Math.round(of.width * sharp); canvas.height = Math.round(of.height * sharp);
    }
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    paint(context, of, drawn);
  } catch (error) { notice(error.message); }
  const took = performance.now() - started;
  if (isMoving) quality = Math.max(0.15, Math.min(sharp, quality * Math.sqrt(40 / took) ** 0.7));
  const { dataset } = document.documentElement;
  dataset.frames = Number(dataset.frames ?? 0) + 1;
  // For tests: when the first picture was there.
  if (drawn) dataset.drawn ??= Math.round(performance.now());
  isBusy = false;
  if (isAgain) { const again = isAgain; isAgain = false; requestAnimationFrame(() => refresh(again.isMoving)); }
}

/** Draws the map on a canvas, or with anything that has its calls. */
function paint(pen, of, now) {
  pen.clearRect(0, 0, of.width, of.height);
  const [cx, cy] = of.middle;
  if (now) { pen.imageSmoothingEnabled = true; pen.drawImage(raster, 0, 0, of.width, of.height); }
  else if (of.projection === 'globe') { pen.fillStyle = css('--sea'); pen.beginPath(); pen.arc(cx, cy, of.scale, 0, 7); pen.fill(); }
  const lines = (list, color, width, dash = []) => {
    pen.strokeStyle = css(color); pen.lineWidth = width; pen.setLineDash(dash); pen.lineJoin = 'round';
    pen.beginPath(); of.trace(list, pen); pen.stroke(); pen.setLineDash([]);
  };
  const spacing = [30, 10, 5, 2, 1].find(step => step * Math.PI / 180 * of.scale < 260) ?? 1;
  lines(grids[spacing] ??= graticule(spacing), '--grid', 1);
  lines(coasts, '--coast', 0.8);
  if (!shown?.lines) { drawPin(pen, of); return; }
  const { horizon, maximum_at_horizon, partial, bands, limits, center } = shown.lines;
  for (const [name, list] of [['horizon', horizon], ['at-maximum', maximum_at_horizon], ['partial', partial]]) lines(list, ...STROKES[name]);
  for (const band of bands) {
    // The band between two limits: filled when it is wide enough to be seen.
    pen.fillStyle = css('--path') + '55';
    const pixels = bandPixels(of, band);
    if (pixels) { pen.beginPath(); pixels.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y)); pen.fill(); }
  }
  lines(limits, ...STROKES.limit);
  for (const [kind, list] of Object.entries(center)) lines(list, ...STROKES[kind]);
  if (now?.umbra.length) lines(vectors(now.umbra), '--path', 1.6);
  if (of.zoom >= 2) drawCities(pen, of);
  drawPin(pen, of);
}
const grids = {};

/** Names of cities, as far as there is room. */
function drawCities(pen, of) {
  const taken = [];
  pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
  pen.lineJoin = 'round';
  for (const [name, latitude, longitude] of cities) {
    const at = of.pixel([longitude, latitude]);
    if (!at || at[0] < 0 || at[1] < 0 || at[0] > of.width || at[1] > of.height) continue;
    const box = [at[0] - 4, at[1] - 9, at[0] + 10 + 7 * name.length, at[1] + 9];
    if (taken.some(other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
    taken.push(box);
    pen.beginPath(); pen.arc(at[0], at[1], 2, 0, 7); pen.fillStyle = css('--ink'); pen.fill();
    pen.strokeStyle = css('--halo'); pen.lineWidth = 3; pen.strokeText(name, at[0] + 6, at[1] + 4);
    pen.fillText(name, at[0] + 6, at[1] + 4);
  }
}

/** A band as a polygon of pixels, if all of it that is in view is in front, and wider than a pixel. */
function bandPixels(of, [a, b]) {
  if (of.scale < 6378 / 3) return null;
  const project = of.projector(), out = [];
  for (const [line, isBack] of [[a, false], [b, true]]) {
    const points = [];
    for (let i = 0; i < line.length; i += 3) {
      const [x, y, z] = project(line[i], line[i + 1], line[i + 2]);
      if (z >= 0 && Math.abs(x - of.width / 2) < 3 * of.width && Math.abs(y - of.height / 2) < 3 * of.height) points.push([x, y]);
    }
    out.push(...(isBack ? points.reverse() : points));
  }
  return out.length > 2 ? out : null;
}

function drawPin(pen, of) {
  const at = state.place && of.pixel([state.place[1], state.place[0]]);
  if (!at) return;
  const [x, y] = at;
  pen.beginPath(); pen.moveTo(x, y); pen.bezierCurveTo(x - 3, y - 9, x - 8, y - 11, x - 8, y - 17); pen.arc(x, y - 17, 8, Math.PI, 0); pen.bezierCurveTo(x + 8, y - 11, x + 3, y - 9, x, y);
  pen.fillStyle = css('--pin'); pen.fill(); pen.strokeStyle = css('--halo'); pen.lineWidth = 1.5; pen.stroke();
  pen.beginPath(); pen.arc(x, y - 17, 3, 0, 7); pen.fillStyle = css('--card'); pen.fill();
}

// Time

/** Sets the time. `follows` says that it is that of the maximum, and stays so when the observer moves. */
function setTime(seconds, isMoving = true, follows = false) {
  if (!shown) return;
  const [first, last] = shown.span;
  time = Math.max(first, Math.min(last, seconds));
  followsMaximum = follows;
  $('time').value = time;
  store({ time: follows ? null : Math.round(time) });
  refresh(isMoving);
}

function play(on = !playing && Boolean(shown)) {
  cancelAnimationFrame(playing);
  playing = 0;
  $('play').setAttribute('aria-label', on ? 'Pause' : 'Play');
  $('play-icon').setAttribute('d', on ? 'M3 2h4v12H3zM9 2h4v12H9z' : 'M4 2l10 6-10 6z');
  if (!on) { refresh(); return; }
  const [first, last] = shown.span;
  if (time >= last) time = first;
  let before = performance.now();
  const step = now => {
    const next = time + (now - before) / 1000 * Number($('speed').value);
    before = now;
    setTime(next);
    if (next >= last) { play(false); return; }
    playing = requestAnimationFrame(step);
  };
  playing = requestAnimationFrame(step);
}

function showInstant(now) {
  $('clock').textContent = clock.text(now.time, { seconds: true, zone: true });
  $('time').setAttribute('aria-valuetext', clock.text(now.time, { seconds: true, zone: true }));
  const { view } = now;
  drawSun($('sun'), view);
  if (!view) return;
  const isUp = view.sun_altitude_deg >= view.horizon_altitude_deg;
  const covered = view.kind === 'none' ? 'not covered' : percent(view.obscuration, view.kind);
  const rows = [['At', clock.text(now.time, { seconds: true })], ['Covered', covered], ['Sun', isUp ? `${view.sun_altitude_deg.toFixed(1)}° high` : 'below the horizon'], ['Towards', compass(view.sun_azimuth_deg)]];
  $('now').replaceChildren(...rows.flatMap(([term, text]) => [make('dt', term), make('dd', text)]));
  $('sun').setAttribute('aria-label', `The Sun as seen by the observer, zenith up: ${isUp ? '' : 'below the horizon, '}${covered === 'not covered' ? covered : covered + ' covered'}`);
}

const compass = azimuth => `${['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'][Math.round(azimuth / 45) % 8]}, ${azimuth.toFixed(0)}°`;

// The observer

const observer = () => state.place && { name: state.city ?? null, latitude_deg: state.place[0], longitude_deg: state.place[1], height_m: state.place[2] ?? 0 };
/** Coordinates to ten metres: near a limit, a kilometre decides. */
const placeText = ([latitude, longitude, height]) => `${degrees(latitude, 'NS', 4)}, ${degrees(longitude, 'EW', 4)}${height ? `, ${height} m` : ''}`;

/** @param place latitude, longitude and, unless it is 0, the height in metres */
async function moveObserver(place, city = null) {
  store({ place, city, chosen: true });
  $('place').value = city ?? placeText(place);
  wrong('place', '');
  refresh(true);
  await showSeen();
}

/** Says what is wrong with a field. What was seen from the place before is no answer then. */
function wrong(input, text) {
  const hint = /^(.*did you mean )(.+)\?$/.exec(text);
  const choose = name => {
    const button = make('button', name, { type: 'button' });
    button.onclick = () => { $('place').value = name; $('by-place').requestSubmit(); };
    return button;
  };
  $(`${input}-error`).replaceChildren(...(hint ? [hint[1], ...hint[2].split(' or ').map(choose)] : [text]));
  if (text) $(input).setAttribute('aria-invalid', 'true'); else $(input).removeAttribute('aria-invalid');
  if (input === 'place') $('seen').classList.toggle('old', Boolean(text));
}

let newest = 0;
async function showSeen() {
  const own = ++newest;
  if (!state.place) return;
  const answer = await call('circumstances', { ...wanted(), places: [observer()] });
  if (own !== newest) return;
  const [place] = answer.places, [errors] = answer.errors;
  const isSeen = place.c1 && place.visible;
  // What is seen may be less: the Sun may be down from C2 to C3.
  const isWhole = place.visible_kind === place.kind, isCentral = isWhole && Boolean(place.c2);
  const kind = !place.c1 ? 'No eclipse here' : !isSeen ? 'The Sun is down during the eclipse' : `${capital(place.visible_kind)} eclipse`;
  const slackS = errors.c2_s + errors.c3_s;
  const duration = isCentral ? `, ${lasting(place.central_duration_s, slackS)}` : '';
  const slack = duration && ` ±\u00a0${Math.round(slackS)}\u00a0s`;
  $('seen-title').textContent = kind + (isSeen ? duration + slack : '');
  const text = [];
  if (state.city) text.push(`${state.city}, ${placeText(state.place)}.`);
  if (place.c1) {
    const partial = place.kind === 'partial' && errors.obscuration >= 0.0005 ? ` ± ${(100 * errors.obscuration).toFixed(1)}` : '';
    if (isSeen) text.push(place.visible === place.maximum ? `Obscuration ${percent(place.obscuration, place.kind)}${partial}, ${place.c2 ? 'ratio of the diameters' : 'magnitude'} ${place.magnitude.toFixed(3)}.` : `At most ${percent(place.visible_obscuration, place.visible_kind)} covered with the Sun up, at ${clock.text(place.visible)}.`);
  }
  const isUp = key => place[`${key}_sun_altitude_deg`] >= place[`${key}_horizon_altitude_deg`];
  const phase = place.kind === 'total' ? 'totality' : 'annularity';
  if (isSeen && place.c2 && !isCentral) text.push(`The Sun is down during ${phase}.`);
  if (isCentral && !isUp('c2')) text.push(`The Sun rises after ${phase} has begun.`);
  if (isCentral && !isUp('c3')) text.push(`The Sun sets before ${phase} ends.`);
  // The errors of both contacts may together be larger than each change by itself.
  const kinds = errors.kinds.length > 1 ? errors.kinds : isCentral && slackS >= place.central_duration_s ? ['partial', place.kind] : [];
  if (isSeen && isWhole && kinds.length) text.push(`This place is at the edge: the Sun’s radius and the Moon’s mountains decide whether the eclipse is ${kinds.join(' or ')} here.`);
  $('seen-text').textContent = text.join(' ');
  const rows = CONTACTS.filter(([key]) => place[key]).map(([key, words, short]) => {
    const label = key === 'c2' || key === 'c3' ? `${place.kind === 'total' ? 'Totality' : 'Annularity'} ${words}` : words;
    const altitude = place[`${key}_sun_altitude_deg`], isUp = altitude >= place[`${key}_horizon_altitude_deg`];
    const go = make('button', short ? [make('b', short), label] : label, { type: 'button', 'data-contact': key });
    go.onclick = () => { play(false); setTime(Clock.seconds(place[key]) - shown.greatest, false, key === 'maximum'); };
    const error = errors[`${key}_s`];
    const stamp = make('time', clock.text(place[key], { seconds: true }), { datetime: place[key] });
    return make('tr', [
      make('th', go, { scope: 'row' }),
      make('td', [stamp, make('small', ` ± ${Math.max(1, Math.round(error))} s`)]),
      make('td', isUp ? `${altitude.toFixed(0)}°` : 'down', { class: 'end' }),
    ], isUp ? {} : { class: 'down', title: 'The Sun is below the horizon' });
  });
  $('contacts').tBodies[0].replaceChildren(...rows);
  $('contacts').hidden = !rows.length;
  $('zone-name').textContent = clock.name(answer.eclipse.greatest);
  $('command').textContent = command();
  if (followsMaximum && isSeen) setTime(Clock.seconds(place.visible) - shown.greatest, false, true);
}

/** The city of the list that sees most of the eclipse. */
async function bestCity() {
  const cities = await cityList;
  const { places } = await call('circumstances', { ...wanted(), places: cities.map(([name, latitude_deg, longitude_deg]) => ({ name, latitude_deg, longitude_deg })) });
  const isWhole = place => ['c2', 'c3'].every(key => place[key] && place[`${key}_sun_altitude_deg`] >= place[`${key}_horizon_altitude_deg`]);
  const worth = place => place.visible_obscuration + (isWhole(place) ? place.central_duration_s : 0);
  const best = places.reduce((a, b) => worth(b) > worth(a) ? b : a);
  return best.visible_obscuration > 0 ? best : null;
}

// The eclipse

function showEclipse(date, options) {
  play(false);
  store({ eclipse: date });
  return changed = change(date, options);
}

async function change(date, { keepView = false, keepTime = keepView } = {}) {
  const { eclipse } = await call('eclipse', wanted());
  for (const field of ['date', 'place']) wrong(field, '');
  notice('');
  const greatest = Clock.seconds(eclipse.greatest);
  clock = new Clock(state.zone, eclipse.greatest);
  shown = { eclipse, greatest, span: [eclipse.begins, eclipse.ends].map(one => Math.round(Clock.seconds(one) - greatest)) };
  $('time').min = shown.span[0]; $('time').max = shown.span[1];
  if ([...$('which').options].some(option => option.value === date)) $('which').value = date;
  else $('which').replaceChildren(make('option', title(eclipse), { value: date }));
  document.title = `${title(eclipse)} – Umbracast`;
  if (!state.chosen) {
    const best = await bestCity();
    // A path may have no city of the list in it.
    store(best && (best.visible_kind !== 'partial' || eclipse.kind === 'partial') ? { place: [best.latitude_deg, best.longitude_deg], city: best.name } : { place: [eclipse.latitude_deg, eclipse.longitude_deg], city: null });
  }
  $('place').value = state.city ?? placeText(state.place);
  if (!keepView) {
    Object.assign(view, { latitude: eclipse.latitude_deg, longitude: eclipse.longitude_deg });
    view.setZoom(1);
    if (state.view.projection) rememberView();
  }
  setTime(keepTime ? time : 0, false, !keepTime || followsMaximum);
  showSeen().catch(error => notice(error.message));
  const lines = await call('map', wanted());
  if (state.eclipse !== date) return;
  const [inner, outer] = lines.limits;
  shown.path = lines.path;
  const sides = ['north', 'south'].map(side => [inner[side], outer[side]].map(vectors));
  shown.lines = {
    center: byKind(lines.center, eclipse.kind), horizon: vectors(lines.horizon), maximum_at_horizon: vectors(lines.maximum_at_horizon), partial: vectors(lines.partial),
    limits: sides.flat(2), bands: sides.flatMap(([a, b]) => a.length === b.length ? a.map((line, i) => [line, b[i]]) : []),
  };
  const key = Object.keys(shown.lines.center).map(kind => [kind, `Centre line, ${kind}`]);
  if (shown.lines.limits.length) key.push(['limit', 'Limits of the path: two on each side, as the Sun’s radius is not known exactly']);
  key.push(['horizon', 'Begins or ends at sunrise or sunset'], ['at-maximum', 'Maximum at sunrise or sunset'], ['partial', 'Limit of the partial eclipse']);
  $('key').replaceChildren(...key.map(([name, text]) => make('li', [stroke(STROKES[name]), text], { class: name })));
  refresh();
}

/** A sample of a line, for the key. */
function stroke([color, width, dash = []]) {
  const part = (name, given) => { const one = document.createElementNS('http://www.w3.org/2000/svg', name); for (const [key, value] of Object.entries(given)) one.setAttribute(key, value); return one; };
  const sample = part('svg', { width: 24, height: 8, 'aria-hidden': 'true' });
  sample.append(part('path', { d: 'M0 4h24', stroke: `var(${color})`, 'stroke-width': width, 'stroke-dasharray': dash.join(' ') }));
  return sample;
}

/** The centre line as lines of one kind each. The path of a hybrid eclipse has parts that are annular and one that is total. */
function byKind(center, kind) {
  if (!center.length) return {};
  if (kind !== 'hybrid') return { [kind]: vectors([center]) };
  const parts = { annular: [], total: [] };
  let last = null;
  center.forEach((point, i) => {
    const own = shown.path[i].kind;
    if (own !== last) parts[own].push(i ? [center[i - 1]] : []);
    parts[own].at(-1).push(point);
    last = own;
  });
  return Object.fromEntries(Object.entries(parts).map(([own, list]) => [own, vectors(list)]));
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
function title(eclipse) {
  const [year, month, day] = eclipse.greatest.slice(0, 10).split('-').map(Number);
  return `${year} ${months[month - 1]} ${day}, ${eclipse.kind}`;
}

function fillList() {
  const decades = new Map();
  for (const one of list) {
    const decade = one.greatest.slice(0, 3) + '0s';
    if (!decades.has(decade)) decades.set(decade, make('optgroup', [], { label: decade }));
    const long = one.central_duration_s ? ` ${lasting(one.central_duration_s)}` : '';
    decades.get(decade).append(make('option', title(one) + long, { value: one.greatest.slice(0, 10) }));
  }
  $('which').replaceChildren(...decades.values());
  $('which').value = state.eclipse;
}

function notice(text) {
  $('notice').textContent = text;
  $('notice').hidden = !text;
}

let cityList;

/** Reads what the address says, and begins. */
export async function start() {
  cityList = call('cities');
  const size = () => {
    const box = $('stage').getBoundingClientRect();
    // Another tab is shown.
    if (!box.width) return;
    view.width = Math.max(50, box.width); view.height = Math.max(50, box.height);
    view.inset = 60;
    refresh();
  };
  control(canvas, view, {
    change: () => { rememberView(); refresh(true); },
    pin: () => state.place && view.pixel([state.place[1], state.place[0]]),
    // The height stays.
    movePin: ([longitude, latitude]) => moveObserver([latitude, longitude, ...(state.place?.slice(2) ?? [])]),
    nudge: ([east, north]) => state.place && moveObserver([Math.max(-90, Math.min(90, state.place[0] + north)), ((state.place[1] + east + 540) % 360) - 180, ...state.place.slice(2)]),
    reset: () => { view.setZoom(1); },
    play: () => play(),
  });
  new ResizeObserver(size).observe($('stage'));
  // The process of the GPU may end, and takes what is on canvases with it.
  canvas.addEventListener('contextrestored', () => refresh());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => refresh());
  const zoom = factor => () => { view.setZoom(view.zoom * factor); rememberView(); refresh(true); };
  $('zoom-in').onclick = zoom(1.6); $('zoom-out').onclick = zoom(1 / 1.6);
  $('reset').onclick = () => { view.setZoom(1); rememberView(); refresh(); };
  const project = projection => {
    const { scale, zoom } = view;
    view.projection = projection;
    // What is seen stays; the whole Earth stays whole.
    view.setZoom(zoom > 1 ? Math.max(1, zoom * scale / view.scale) : 1);
    if (projection === 'globe' && view.zoom === 1 && shown) view.latitude = shown.eclipse.latitude_deg;
    $('as-globe').setAttribute('aria-pressed', projection === 'globe'); $('as-map').setAttribute('aria-pressed', projection === 'flat');
    if (projection === 'flat') view.turn(0, 0);
    rememberView(); refresh();
  };
  $('as-globe').onclick = () => project('globe'); $('as-map').onclick = () => project('flat');
  $('play').onclick = () => play();
  $('time').oninput = () => { play(false); setTime(Number($('time').value)); };
  $('which').onchange = () => showEclipse($('which').value).catch(error => notice(error.message));
  const neighbour = step => () => {
    const at = list.findIndex(one => one.greatest.slice(0, 10) === state.eclipse) + step;
    if (list[at]) showEclipse(list[at].greatest.slice(0, 10)).catch(error => notice(error.message));
  };
  $('earlier').onclick = neighbour(-1); $('later').onclick = neighbour(1);
  $('by-date').onsubmit = async event => {
    event.preventDefault();
    const date = $('date').value.trim();
    try {
      if (!date) throw new Error('Give a date, such as 2027-08-02.');
      const { eclipse } = await call('eclipse', { ...wanted(), date });
      wrong('date', '');
      await showEclipse(eclipse.greatest.slice(0, 10));
    } catch (error) { wrong('date', error.message); }
  };
  const placed = async () => {
    const text = $('place').value.trim();
    try {
      if (!text) throw new Error('Give a city, or latitude and longitude, such as 25.69 N, 32.64 E.');
      const place = await call('place', text);
      wrong('place', '');
      await moveObserver([place.latitude_deg, place.longitude_deg, ...(place.height_m ? [place.height_m] : [])], place.name);
      view.latitude = place.latitude_deg; view.longitude = place.longitude_deg; view.turn(0, 0); rememberView(); refresh();
    } catch (error) { wrong('place', error.message); }
  };
  $('by-place').onsubmit = event => { event.preventDefault(); placed(); };
  $('place').onchange = placed;
  $('here').onclick = () => {
    if (!navigator.geolocation) { wrong('place', 'This browser does not tell its position: type it, or click the map.'); return; }
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => moveObserver([coords.latitude, coords.longitude]),
      error => wrong('place', error.code === 1 ? 'The browser was not allowed to tell its position: type it, or click the map.' : 'The browser does not know its position: type it, or click the map.'),
    );
  };
  $('radii').value = state.radii;
  $('radii').onchange = () => { store({ radii: $('radii').value }); showEclipse(state.eclipse, { keepView: true }).catch(error => notice(error.message)); };
  $('zone').replaceChildren(...zones());
  $('zone').value = state.zone;
  $('zone').onchange = () => { store({ zone: $('zone').value }); clock = new Clock(state.zone, clock.day); showSeen(); refresh(); };
  for (const button of document.querySelectorAll('[data-save]')) button.onclick = () => save(button.dataset.save).catch(error => notice(error.message));
  Object.assign(view, state.view);
  size();
  view.turn(0, 0);
  $('as-globe').setAttribute('aria-pressed', view.projection === 'globe'); $('as-map').setAttribute('aria-pressed', view.projection === 'flat');
  time = state.time ?? 0;
  const [flat, date, named] = await Promise.all([call('coasts'), state.eclipse ?? nextTotal(), cityList]);
  coasts = coastVectors(flat);
  cities = named;
  // The name of a link is that of a city only at its place.
  const isCity = ([name, ...at]) => name === state.city && String(at) === String(state.place);
  if (state.city && !cities.some(isCity)) {
    state.refused.push(`city=${state.city} at ${state.place}`);
    store({ city: null });
  }
  followsMaximum = state.time === null;
  try {
    await showEclipse(date, { keepView: Boolean(state.view.projection), keepTime: !followsMaximum });
    if (state.refused.length) notice(`The address of this page has ${state.refused.join(' and ')}, which it does not know.`);
  } catch (error) {
    await showEclipse(await nextTotal());
    notice(error.message);
  }
  $('cities').replaceChildren(...cities.map(([name]) => make('option', '', { value: name })));
  list = await call('eclipses', { first: 1900, last: 2050, radii: 'nasa' });
  fillList();
}

/** The next total eclipse, by the clock of this computer: the one that people look for. */
async function nextTotal() {
  const today = new Date(), year = Math.max(1900, Math.min(2046, today.getUTCFullYear()));
  const near = await call('eclipses', { first: year, last: year + 4, radii: 'nasa' });
  const day = today.toISOString().slice(0, 10);
  const next = near.find(one => one.kind === 'total' && one.greatest >= day) ?? near[near.length - 1];
  return next.greatest.slice(0, 10);
}

function rememberView() {
  store({ view: { projection: view.projection, latitude: view.latitude, longitude: view.longitude, zoom: view.zoom } });
}

async function save(what) {
  notice('');
  await changed;
  const name = `eclipse-${state.eclipse}`;
  if (what === 'place') return saveAs(`${name}-place.csv`, 'text/csv', csv((await call('circumstances', { ...wanted(), places: [observer()] })).places));
  if (what === 'path') {
    const { path } = await call('map', wanted());
    if (!path.length) throw new Error(`${shown.eclipse.kind === 'partial' ? 'A partial eclipse has no path' : 'The axis of the shadow misses the Earth, so there is no centre line'}: there is nothing to save.`);
    return saveAs(`${name}-path.csv`, 'text/csv', csv(path));
  }
  if (what === 'geojson' || what === 'kml') return saveAs(`${name}.${what}`, what === 'kml' ? 'application/vnd.google-earth.kml+xml' : 'application/geo+json', await call(what, wanted()));
  // What is on the canvas may be an earlier frame.
  while (isBusy) await new Promise(requestAnimationFrame);
  await frame(false);
  const about = `${capital(shown.eclipse.kind)} solar eclipse of ${state.eclipse}, ${clock.text(drawn.time, { seconds: true, zone: true })}. Observer: ${state.city ?? placeText(state.place)}`;
  const of = view.copy();
  const drawing = pen => {
    paint(pen, of, drawn);
    pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
    pen.lineJoin = 'round'; pen.strokeStyle = css('--halo'); pen.lineWidth = 4; pen.strokeText(about, 14, of.height - 16);
    pen.fillStyle = css('--ink');
    pen.fillText(about, 14, of.height - 16);
  };
  if (what === 'svg') return saveAs(`${name}.svg`, 'image/svg+xml', svg(of, raster, drawing, about, css('--space')));
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }), pen = copy.getContext('2d');
  pen.scale(canvas.width / of.width, canvas.height / of.height);
  drawing(pen);
  pen.globalCompositeOperation = 'destination-over';
  pen.fillStyle = css('--space');
  pen.fillRect(0, 0, of.width, of.height);
  const blob = await new Promise(done => copy.toBlob(done, 'image/png'));
  return saveAs(`${name}.png`, 'image/png', blob);
}
