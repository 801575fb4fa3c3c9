// The Sun as the observer sees it, with the zenith up.

const mix = (a, b, share) => `rgb(${a.map((one, i) => Math.round(one + (b[i] - one) * share)).join(' ')})`;

/** Draws the discs of Sun and Moon of a view of the engine, the sky around them, and the ground below the horizon. */
export function drawSun(canvas, view) {
  const pen = canvas.getContext('2d'), size = canvas.width, middle = size / 2;
  pen.clearRect(0, 0, size, size);
  if (!view) return;
  // Pixels per degree: the Sun has 27 % of the width as its radius.
  const scale = 0.27 * size / view.sun_radius_deg;
  const above = view.sun_altitude_deg - view.horizon_altitude_deg;
  const isTotal = view.obscuration >= 1;
  // Daylight fades only when little of the Sun is left, and at the horizon.
  const light = Math.max(0, Math.min(1, (above + 4) / 10)) * (isTotal ? 0 : Math.min(1, 0.12 + (1 - view.obscuration) ** 0.35));
  pen.fillStyle = mix([14, 20, 38], [116, 164, 214], light);
  pen.fillRect(0, 0, size, size);
  const sun = view.sun_radius_deg * scale, moon = view.moon_radius_deg * scale;
  if (isTotal && above > 0) {
    const glow = pen.createRadialGradient(middle, middle, sun * 0.9, middle, middle, sun * 1.8);
    glow.addColorStop(0, '#ffffffe0'); glow.addColorStop(0.25, '#dfe8ff70'); glow.addColorStop(1, '#dfe8ff00');
    pen.fillStyle = glow;
    pen.fillRect(0, 0, size, size);
  }
  const disc = pen.createRadialGradient(middle, middle, 0, middle, middle, sun);
  disc.addColorStop(0, '#fff8dc'); disc.addColorStop(0.7, '#ffe08a'); disc.addColorStop(1, '#f0a93c');
  pen.fillStyle = disc;
  pen.beginPath(); pen.arc(middle, middle, sun, 0, 7); pen.fill();
  // Angles go from the zenith through east, which is left on the sky.
  const angle = view.zenith_angle_deg * Math.PI / 180, apart = view.separation_deg * scale;
  const [x, y] = [middle - apart * Math.sin(angle), middle - apart * Math.cos(angle)];
  pen.save();
  if (!isTotal) {
    // A Moon in front of the sky is as bright as the sky: only what covers the Sun is dark.
    pen.beginPath(); pen.arc(middle, middle, sun + 0.5, 0, 7); pen.clip();
  }
  pen.fillStyle = mix([14, 20, 38], [60, 84, 120], light);
  pen.beginPath(); pen.arc(x, y, moon, 0, 7); pen.fill();
  pen.restore();
  const left = 1 - view.obscuration;
  if (!isTotal && left < 0.02 && above > 0 && view.kind === 'partial') {
    // What is left outshines the corona: the diamond ring.
    const [gx, gy] = [middle + sun * Math.sin(angle), middle + sun * Math.cos(angle)];
    const glow = pen.createRadialGradient(gx, gy, 0, gx, gy, size * (0.05 + 0.2 * (1 - left / 0.02)));
    glow.addColorStop(0, '#fffdf2'); glow.addColorStop(0.25, '#fff1c880'); glow.addColorStop(1, '#fff1c800');
    pen.fillStyle = glow;
    pen.fillRect(0, 0, size, size);
  }
  const horizon = middle + above * scale;
  if (horizon < size) {
    pen.fillStyle = '#2b3326';
    pen.fillRect(0, Math.max(0, horizon), size, size);
  }
}
