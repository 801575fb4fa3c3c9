// Files that the page makes.

/** Offers a text or a blob as a download. */
export function saveAs(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Records as CSV, with the columns of the command line. */
export function csv(records) {
  const cell = value => value === null ? '' : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  const rows = records.map(record => Object.values(record).map(cell).join(','));
  return [Object.keys(records[0]).join(','), ...rows, ''].join('\n');
}

const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** An SVG of what `paint` draws with a pen: the picture of the ground as a PNG, and lines above it. */
export function svg(view, raster, paint, title, background) {
  const out = [], number = value => Number(value.toFixed(2));
  let path = '';
  const style = color => {
    const alpha = /^#[0-9a-f]{8}$/i.test(color) ? parseInt(color.slice(7), 16) / 255 : 1;
    return [color.slice(0, alpha < 1 ? 7 : undefined), alpha];
  };
  const label = (text, x, y, how) => out.push(`<text x="${number(x)}" y="${number(y)}" font-family="sans-serif" font-size="12" ${how}>${escaped(text)}</text>`);
  const pen = {
    beginPath() { path = ''; },
    moveTo(x, y) { path += `M${number(x)} ${number(y)}`; },
    lineTo(x, y) { path += `L${number(x)} ${number(y)}`; },
    bezierCurveTo(...at) { path += `C${at.map(number).join(' ')}`; },
    arc(x, y, r, from, to) {
      if (to - from > 6.28) path += `M${number(x - r)} ${number(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
      else path += `A${r} ${r} 0 0 1 ${number(x + r * Math.cos(to))} ${number(y + r * Math.sin(to))}`;
    },
    fill() { const [color, alpha] = style(pen.fillStyle); out.push(`<path d="${path}" fill="${color}" fill-opacity="${number(alpha)}"/>`); },
    stroke() {
      const [color, alpha] = style(pen.strokeStyle);
      const dash = pen.dash?.length ? ` stroke-dasharray="${pen.dash.join(' ')}"` : '';
      if (path) out.push(`<path d="${path}" fill="none" stroke="${color}" stroke-opacity="${number(alpha)}" stroke-width="${pen.lineWidth}" stroke-linejoin="round"${dash}/>`);
    },
    strokeText(text, x, y) { label(text, x, y, `fill="none" stroke="${style(pen.strokeStyle)[0]}" stroke-width="${pen.lineWidth}" stroke-opacity="0.8"`); },
    fillText(text, x, y) { label(text, x, y, `fill="${style(pen.fillStyle)[0]}"`); },
    setLineDash(dash) { pen.dash = dash; },
    clearRect() { out.push(`<rect width="100%" height="100%" fill="${background}"/>`); },
    drawImage() { out.push(`<image width="${number(view.width)}" height="${number(view.height)}" href="${raster.toDataURL('image/png')}"/>`); },
  };
  paint(pen);
  const size = `width="${number(view.width)}" height="${number(view.height)}" viewBox="0 0 ${number(view.width)} ${number(view.height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}"><title>${escaped(title)}</title>\n${out.join('\n')}\n</svg>\n`;
}
