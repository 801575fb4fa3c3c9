// The Earth on a canvas: projections, lines, and what pointers and keys do to the view. A place is [longitude, latitude] in degrees.

const RAD = Math.PI / 180;
const MOST_ZOOM = 400;

/** Lines as unit vectors: a list of Float64Array of x, y, z, towards the zenith of each point. */
export function vectors(lines) {
  return lines.map(line => {
    const out = new Float64Array(3 * line.length);
    line.forEach(([longitude, latitude], i) => {
      const across = Math.cos(latitude * RAD);
      out[3 * i] = across * Math.cos(longitude * RAD);
      out[3 * i + 1] = across * Math.sin(longitude * RAD);
      out[3 * i + 2] = Math.sin(latitude * RAD);
    });
    return out;
  });
}

/** Coastlines of the engine: longitude and latitude in turn, and a pair of NaN after each line. */
export function coastVectors(flat) {
  const lines = [];
  let line = [];
  for (let i = 0; i < flat.length; i += 2) {
    if (Number.isNaN(flat[i])) {
      if (line.length > 1) lines.push(line);
      line = [];
    } else line.push([flat[i], flat[i + 1]]);
  }
  return vectors(lines);
}

/** Meridians and parallels, `step` degrees apart. */
export function graticule(step) {
  const lines = [];
  const range = (from, to, by) => Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => from + i * by);
  for (const longitude of range(-180, 180 - step, step)) lines.push(range(-90, 90, 3).map(latitude => [longitude, latitude]));
  for (const latitude of range(-90 + step, 90 - step, step)) lines.push(range(-180, 180, 3).map(longitude => [longitude, latitude]));
  return vectors(lines);
}

const wrapped = degrees => ((degrees + 180) % 360 + 360) % 360 - 180;

/** What is shown: the place in the middle, and the zoom. At zoom 1 the whole Earth fits. */
export class View {
  constructor() {
    Object.assign(this, { projection: 'globe', latitude: 0, longitude: 0, zoom: 1, width: 1, height: 1, inset: 0 });
  }
  copy() { return Object.assign(new View(), this); }
  /** Pixels per radian in the middle. */
  get scale() {
    const height = this.height - this.inset;
    const whole = this.projection === 'globe' ? 0.46 * Math.min(this.width, height) : this.width / (2 * Math.PI);
    return whole * this.zoom;
  }
  /** The middle of the picture in pixels: what covers the lower edge is left free. */
  get middle() { return [this.width / 2, (this.height - this.inset) / 2]; }
  turn(longitude, latitude) {
    this.longitude = wrapped(this.longitude + longitude);
    this.latitude = Math.max(-90, Math.min(90, this.latitude + latitude));
    if (this.projection === 'flat') {
      const free = Math.max(0, 90 - (this.height - this.inset) / 2 / this.scale / RAD);
      this.latitude = Math.max(-free, Math.min(free, this.latitude));
    }
  }
  setZoom(zoom) {
    this.zoom = Math.max(0.5, Math.min(MOST_ZOOM, zoom));
    this.turn(0, 0);
  }
  /** The place at a pixel; null beside the Earth. */
  place([px, py]) {
    const [cx, cy] = this.middle;
    const x = (px - cx) / this.scale, y = (cy - py) / this.scale;
    if (this.projection === 'flat') {
      const latitude = this.latitude + y / RAD;
      return Math.abs(latitude) > 90 ? null : [wrapped(this.longitude + x / RAD), latitude];
    }
    const out = x * x + y * y;
    if (out > 1) return null;
    const z = Math.sqrt(1 - out), s = Math.sin(this.latitude * RAD), c = Math.cos(this.latitude * RAD);
    return [wrapped(this.longitude + Math.atan2(x, z * c - y * s) / RAD), Math.asin(z * s + y * c) / RAD];
  }
  /** The pixel of a place; null behind the globe. */
  pixel([longitude, latitude]) {
    const point = this.projector()(...vectors([[[longitude, latitude]]])[0]);
    return point[2] < 0 ? null : [point[0], point[1]];
  }
  /** A function from unit vectors to pixels; the third number is negative behind the globe. */
  projector() {
    const [cx, cy] = this.middle, scale = this.scale;
    const sl = Math.sin(this.longitude * RAD), cl = Math.cos(this.longitude * RAD);
    const sb = Math.sin(this.latitude * RAD), cb = Math.cos(this.latitude * RAD);
    const out = [0, 0, 0];
    if (this.projection === 'flat') {
      const middle = this.latitude * RAD;
      return (x, y, z) => {
        out[0] = cx + scale * Math.atan2(y * cl - x * sl, x * cl + y * sl);
        out[1] = cy - scale * (Math.asin(Math.max(-1, Math.min(1, z))) - middle);
        out[2] = 1;
        return out;
      };
    }
    return (x, y, z) => {
      const forward = x * cl + y * sl;
      out[0] = cx + scale * (y * cl - x * sl);
      out[1] = cy - scale * (z * cb - forward * sb);
      out[2] = z * sb + forward * cb;
      return out;
    };
  }
  /** Draws lines with a pen that has moveTo and lineTo: a line ends at the limb of the globe, and leaves the map at both sides. */
  trace(lines, pen) {
    const project = this.projector(), flat = this.projection === 'flat', turn = 2 * Math.PI * this.scale;
    const isOutside = (a, b, size) => Math.max(a, b) < -20 || Math.min(a, b) > size + 20;
    for (const line of lines) {
      let open = false, px = 0, py = 0, pz = -1;
      for (let i = 0; i < line.length; i += 3) {
        const [x, y, z] = project(line[i], line[i + 1], line[i + 2]);
        const [ax, ay, az] = [px, py, pz];
        [px, py, pz] = [x, y, z];
        if (i === 0) continue;
        if (az < 0 && z < 0) { open = false; continue; }
        if (flat && Math.abs(x - ax) > turn / 2) {
          const jump = x > ax ? -turn : turn;
          pen.moveTo(ax, ay); pen.lineTo(x + jump, y);
          pen.moveTo(ax - jump, ay); pen.lineTo(x, y);
          open = true;
          continue;
        }
        if (isOutside(ax, x, this.width) || isOutside(ay, y, this.height)) { open = false; continue; }
        const part = az / (az - z), edge = [ax + part * (x - ax), ay + part * (y - ay)];
        if (az < 0) { pen.moveTo(...edge); open = true; }
        if (!open) pen.moveTo(ax, ay);
        if (z < 0) pen.lineTo(...edge); else pen.lineTo(x, y);
        open = z >= 0;
      }
    }
  }
}

/**
 * Pointers, wheel and keys on a canvas. `on` has: change() after the view changed; pin(), the pixel of the observer; movePin(place);
 * nudge([east, north]) by degrees; reset(); play().
 */
export function control(canvas, view, on) {
  const held = new Map();
  let moved = 0, dragsPin = false, spread = 0;
  const at = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const isPin = point => {
    const pin = on.pin();
    // The pin's head is above the place.
    return pin && Math.hypot(point[0] - pin[0], point[1] - (pin[1] - 12)) < 20;
  };
  const zoomAt = (factor, point) => {
    const before = view.place(point);
    view.setZoom(view.zoom * factor);
    const after = view.place(point);
    if (before && after && view.zoom > 1) view.turn(wrapped(before[0] - after[0]), before[1] - after[1]);
    on.change();
  };
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, at(event));
    if (held.size === 1) { moved = 0; dragsPin = isPin(at(event)); canvas.classList.toggle('turning', !dragsPin); }
    spread = 0;
  });
  canvas.addEventListener('pointermove', event => {
    const point = at(event), before = held.get(event.pointerId);
    if (!before) { canvas.classList.toggle('pin', Boolean(isPin(point))); return; }
    held.set(event.pointerId, point);
    if (held.size === 2) {
      const [a, b] = [...held.values()];
      const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) zoomAt(now / spread, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
      spread = now; moved = 99;
      return;
    }
    moved += Math.hypot(point[0] - before[0], point[1] - before[1]);
    if (moved < 4) return;
    if (dragsPin) {
      const place = view.place([point[0], point[1] + 12]);
      if (place) on.movePin(place);
      return;
    }
    const degrees = 1 / view.scale / RAD, flat = view.projection === 'flat';
    const across = flat ? 1 : Math.max(0.3, Math.cos(view.latitude * RAD));
    view.turn((before[0] - point[0]) * degrees / across, (point[1] - before[1]) * degrees);
    on.change();
  });
  const release = event => {
    if (!held.delete(event.pointerId)) return;
    canvas.classList.remove('turning');
    if (event.type === 'pointerup' && moved < 4 && !held.size) {
      const place = view.place(at(event));
      if (place) on.movePin(place);
    }
    spread = 0;
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    zoomAt(Math.exp(-0.0016 * event.deltaY * (event.deltaMode ? 20 : 1)), at(event));
  }, { passive: false });
  canvas.addEventListener('keydown', event => {
    const step = 12 / view.zoom;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (way && event.shiftKey) on.nudge(way.map(one => one * 0.5 / Math.max(1, view.zoom / 4)));
    else if (way) view.turn(way[0] * step, way[1] * step);
    else if (event.key === '+' || event.key === '=') view.setZoom(view.zoom * 1.4);
    else if (event.key === '-') view.setZoom(view.zoom / 1.4);
    else if (event.key === '0') on.reset();
    else if (event.key === ' ') on.play();
    else return;
    event.preventDefault();
    on.change();
  });
}
