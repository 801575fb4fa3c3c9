// The state of the page, which is in its address: #eclipse=2027-08-02&place=25.69,32.64&city=Luxor&time=-1200&view=globe,25,33,1

const start = { tab: 'eclipse', eclipse: null, place: null, city: null, chosen: false, time: null, radii: 'nasa', zone: 'UTC', view: {}, bullet: null, refused: [] };

/** The present state. Only `store` changes it. */
export const state = { ...start, ...read() };

function read() {
  const given = new URLSearchParams(location.hash.slice(1)), out = { refused: [] };
  const numbers = (text, count) => {
    const list = (text ?? '').split(',').map(Number);
    return list.length === count && list.every(Number.isFinite) ? list : null;
  };
  if (['eclipse', 'rays', 'bullets'].includes(given.get('tab'))) out.tab = given.get('tab');
  if (/^\d{4}-\d{2}-\d{2}$/.test(given.get('eclipse') ?? '')) out.eclipse = given.get('eclipse');
  const place = numbers(given.get('place'), 2) ?? numbers(given.get('place'), 3);
  const isHeight = ([,, height = 0]) => height >= -12_000 && height <= 1e8;
  if (place && Math.abs(place[0]) <= 90 && Math.abs(place[1]) <= 360 && isHeight(place)) Object.assign(out, { place, city: given.get('city'), chosen: true });
  if (given.has('time') && Number.isFinite(Number(given.get('time')))) out.time = Number(given.get('time'));
  if (['nasa', 'quaglia', 'iau'].includes(given.get('radii'))) out.radii = given.get('radii');
  try { if (given.has('zone')) { new Intl.DateTimeFormat('en', { timeZone: given.get('zone') }); out.zone = given.get('zone'); } } catch { /* not a zone of this browser: UTC */ }
  // The form of the bullet judges each value.
  if (given.has('bullet')) out.bullet = given.get('bullet').split(',');
  const [projection, ...rest] = (given.get('view') ?? '').split(',');
  const view = numbers(rest.join(','), 3);
  if (['globe', 'flat'].includes(projection) && view) out.view = { projection, latitude: view[0], longitude: view[1], zoom: Math.max(0.5, Math.min(400, view[2])) };
  // A time of 0 is that of no time, and a city is a name for a place.
  const known = { tab: out.tab, eclipse: out.eclipse, place: out.place, city: out.place, time: out.time ?? given.get('time') === '0', radii: out.radii, zone: out.zone, view: out.view, bullet: out.bullet };
  for (const [name, value] of given) if (known[name] === undefined) out.refused.push(`${name}=${value}`);
  return out;
}

let timer = 0, isNew = false;

/** Changes the state, and a moment later the address. */
export function store(change) {
  // The way back leads to the eclipse before.
  isNew ||= Boolean(state.eclipse && change.eclipse) && change.eclipse !== state.eclipse;
  Object.assign(state, change);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const out = new URLSearchParams();
    if (state.tab !== 'eclipse') out.set('tab', state.tab);
    if (state.eclipse) out.set('eclipse', state.eclipse);
    if (state.chosen) {
      out.set('place', state.place.map(one => Number(one.toFixed(5))).join(','));
      if (state.city) out.set('city', state.city);
    }
    if (state.time) out.set('time', state.time);
    for (const name of ['radii', 'zone']) if (state[name] !== start[name]) out.set(name, state[name]);
    const { projection, latitude, longitude, zoom } = state.view;
    if (projection) out.set('view', [projection, latitude.toFixed(3), longitude.toFixed(3), zoom.toFixed(2)].join(','));
    if (state.bullet) out.set('bullet', state.bullet.join(','));
    history[isNew ? 'pushState' : 'replaceState'](null, '', `#${out}`.replaceAll('%2C', ','));
    isNew = false;
  }, 250);
}
