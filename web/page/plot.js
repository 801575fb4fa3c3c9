// A plot of spheres, rays and paths that can be turned, on a 2-D canvas: orthographic, far things first.

/** Most spheres and rays that are drawn. */
const MOST_SPHERES = 20_000;
export const MOST_RAYS = 800;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Plot {
  /** @param onPick called with the id of the sphere that was clicked, or null */
  constructor(canvas, onPick) {
    Object.assign(this, { canvas, onPick, yaw: -0.6, pitch: 0.5, zoom: 1, spheres: new Float32Array(0), segments: [], points: [], starts: [], picked: null });
    let from = null, moved = 0;
    canvas.addEventListener('pointerdown', event => { canvas.setPointerCapture(event.pointerId); from = [event.clientX, event.clientY]; moved = 0; });
    canvas.addEventListener('pointermove', event => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      from = [event.clientX, event.clientY];
      this.turn(dx * 0.008, dy * 0.008);
    });
    canvas.addEventListener('pointerup', event => {
      from = null;
      if (moved < 4) { const box = canvas.getBoundingClientRect(); this.onPick(this.at(event.clientX - box.left, event.clientY - box.top)); }
    });
    canvas.addEventListener('pointercancel', () => { from = null; });
    canvas.addEventListener('wheel', event => {
      // Without the focus, the wheel scrolls the page if it is longer than the window.
      const scrolls = document.documentElement.scrollHeight > innerHeight;
      if (scrolls && document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-0.0016 * event.deltaY * (event.deltaMode ? 20 : 1)));
    }, { passive: false });
    canvas.addEventListener('keydown', event => {
      const way = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.12], ArrowDown: [0, 0.12] }[event.key];
      if (way) this.turn(...way);
      else if (event.key === '+' || event.key === '=') this.zoomBy(1.25);
      else if (event.key === '-') this.zoomBy(0.8);
      else if (event.key === '0') { this.zoom = 1; this.draw(); }
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  /** Looks along a direction. */
  face([x, y, z]) {
    const length = Math.hypot(x, y, z);
    if (!length) return;
    this.pitch = Math.asin(z / length);
    if (x || y) this.yaw = Math.atan2(x, -y);
  }

  turn(yaw, pitch) { this.yaw += yaw; this.pitch = Math.max(-1.57, Math.min(1.57, this.pitch + pitch)); this.draw(); }
  zoomBy(factor) { this.zoom = Math.max(0.2, Math.min(200, this.zoom * factor)); this.draw(); }

  /** Shows spheres (x, y, z, r in turn) whose mask is not 0, segments ({ from, to, kind }), hit points, and starts of rays. The view fits the spheres and, if they are few, the ends of segments. */
  show({ spheres, masks, segments = [], points = [], starts = [] }) {
    Object.assign(this, { spheres, segments: segments.slice(0, MOST_RAYS), points: points.slice(0, MOST_RAYS), starts: starts.slice(0, MOST_RAYS) });
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const grow = (at, r) => at.forEach((one, i) => { low[i] = Math.min(low[i], one - r); high[i] = Math.max(high[i], one + r); });
    const count = spheres.length / 4, step = Math.max(1, Math.ceil(count / MOST_SPHERES));
    this.ids = [];
    for (let i = 0; i < count; i += step) if (masks?.[i] !== 0) this.ids.push(i);
    for (let i = 0; i < spheres.length; i += 4) grow([spheres[i], spheres[i + 1], spheres[i + 2]], spheres[i + 3]);
    for (const { from, to } of this.segments) { grow(from, 0); grow(to, 0); }
    this.center = low.map((one, i) => Number.isFinite(one) ? (one + high[i]) / 2 : 0);
    this.reach = Math.max(1e-30, Math.hypot(...low.map((one, i) => Number.isFinite(one) ? (high[i] - one) / 2 : 1)));
    this.draw();
  }

  /** Pixels and depth of a point; larger depths are nearer. */
  project([x, y, z]) {
    const [dx, dy, dz] = [x - this.center[0], y - this.center[1], z - this.center[2]];
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    // z is up: right, up and towards the viewer.
    const right = cy * dx + sy * dy, back = -sy * dx + cy * dy;
    const up = cp * dz + sp * back, near = sp * dz - cp * back;
    return [this.width / 2 + this.scale * right, this.height / 2 - this.scale * up, near];
  }

  draw() {
    if (!this.center) return;
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const box = this.canvas.getBoundingClientRect(), sharp = Math.min(2, devicePixelRatio);
    if (!box.width) return;
    [this.width, this.height] = [box.width, box.height];
    this.scale = 0.46 * Math.min(box.width, box.height) / this.reach * this.zoom;
    const pen = this.canvas.getContext('2d');
    this.canvas.width = Math.round(box.width * sharp); this.canvas.height = Math.round(box.height * sharp);
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    const order = [];
    for (const i of this.ids) {
      const [x, y, z, r] = this.spheres.subarray(4 * i, 4 * i + 4);
      const [px, py, near] = this.project([x, y, z]);
      order.push([near, px, py, Math.max(0.5, r * this.scale), i]);
    }
    this.drawn = [...order];
    const many = this.segments.length > 300;
    // Points are drawn in the order of depth, too: spheres in front cover them.
    for (const point of this.points) { const [x, y, near] = this.project(point); order.push([near, x, y, many ? 1.5 : 3, null]); }
    order.sort((a, b) => a[0] - b[0]);
    const ball = sprite(css('--ball'), css('--ball-edge')), mark = sprite(css('--pin'), css('--pin'));
    pen.fillStyle = css('--path');
    for (const [, x, y, r, id] of order) {
      if (x + r < 0 || y + r < 0 || x - r > this.width || y - r > this.height) continue;
      pen.globalAlpha = id === null ? 1 : this.ids.length > 1 ? 0.92 : 0.75;
      if (id === null) { pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.fill(); } else pen.drawImage(id === this.picked ? mark : ball, x - r, y - r, 2 * r, 2 * r);
    }
    for (const { from, to, kind } of this.segments) {
      const a = this.project(from), b = this.project(to.map((one, i) => Number.isFinite(one) ? one : from[i]));
      pen.strokeStyle = css(kind === 'miss' ? '--faint' : '--path'); pen.globalAlpha = kind === 'miss' ? (many ? 0.2 : 0.45) : many ? 0.5 : 0.9;
      pen.lineWidth = kind === 'path' ? 2 : 1.1; pen.setLineDash(kind === 'miss' ? [3, 4] : []);
      pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]);
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
      if (kind === 'path' && length > 20) {
        // An arrow head, not in the middle: a way back may end as far behind the start.
        const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length], [x, y] = [a[0] + 0.6 * (b[0] - a[0]), a[1] + 0.6 * (b[1] - a[1])];
        for (const side of [-4, 4]) { pen.moveTo(x - 8 * ux + side * uy, y - 8 * uy - side * ux); pen.lineTo(x, y); }
      }
      pen.stroke();
    }
    pen.globalAlpha = 1; pen.setLineDash([]); pen.lineWidth = 1.5; pen.strokeStyle = css('--ink'); pen.fillStyle = css('--space');
    for (const start of this.starts) { const [x, y] = this.project(start); pen.beginPath(); pen.arc(x, y, many ? 2 : 4, 0, 7); pen.fill(); pen.stroke(); }
    this.paintAxes(pen);
  }

  /** The directions of the axes, and a length, in the lower right corner. */
  paintAxes(pen) {
    const [x, y, arm] = [this.width - 44, this.height - 40, 26], [ox, oy] = this.project(this.center);
    pen.strokeStyle = pen.fillStyle = css('--ink'); pen.lineWidth = 1.5; pen.font = '12px system-ui, sans-serif'; pen.textAlign = 'center'; pen.textBaseline = 'middle';
    const names = [];
    ['x', 'y', 'z'].forEach((name, axis) => {
      const end = this.project(this.center.map((one, i) => one + (i === axis ? arm / this.scale : 0)));
      const [dx, dy] = [end[0] - ox, end[1] - oy];
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + dx, y + dy); pen.stroke();
      // Two axes may point to one place: their names must not.
      let far = 1.35;
      while (names.some(([nx, ny]) => Math.hypot(nx - far * dx, ny - far * dy) < 10) && far < 3) far += 0.2;
      names.push([far * dx, far * dy]);
      pen.fillText(name, x + far * dx, y + far * dy);
    });
    // A length of 1, 2 or 5 times a power of ten that is 40 to 100 pixels long.
    const least = 40 / this.scale, power = 10 ** Math.floor(Math.log10(least)), unit = [1, 2, 5, 10].find(one => one * power >= least) * power;
    const right = x - 48, bar = unit * this.scale, floor = this.height - 14;
    pen.beginPath(); pen.moveTo(right - bar, floor - 5); pen.lineTo(right - bar, floor); pen.lineTo(right, floor); pen.lineTo(right, floor - 5); pen.stroke();
    pen.fillText(String(Number(unit.toPrecision(1))), right - bar / 2, floor - 11);
  }

  /** Id of the sphere at a pixel; null if there is none. */
  at(px, py) {
    let best = null, nearest = -Infinity;
    for (const [near, x, y, r, id] of this.drawn ?? []) {
      const out = (px - x) ** 2 + (py - y) ** 2, reach = Math.max(r, 4) ** 2;
      if (out > reach) continue;
      const front = near + Math.sqrt(reach - out) / this.scale;
      if (front > nearest) [best, nearest] = [id, front];
    }
    return best;
  }
}

const sprites = new Map();
/** A shaded ball, drawn once. */
function sprite(color, edge) {
  if (sprites.has(color)) return sprites.get(color);
  const canvas = Object.assign(document.createElement('canvas'), { width: 128, height: 128 }), pen = canvas.getContext('2d');
  const shade = pen.createRadialGradient(46, 40, 4, 64, 64, 64);
  shade.addColorStop(0, '#ffffff'); shade.addColorStop(0.25, color); shade.addColorStop(1, edge);
  pen.fillStyle = shade;
  pen.beginPath(); pen.arc(64, 64, 63, 0, 7); pen.fill();
  sprites.set(color, canvas);
  return canvas;
}
