// Instants of records as text. A record has `2027-08-02T10:05:18.46Z`, and before 1972, when clocks were not UTC, `… UT1`.

export class Clock {
  /** @param zone `UTC`, or a name of the IANA time zones; @param day an instant of the day whose times need no date */
  constructor(zone, day = '') {
    Object.assign(this, { zone, day });
    const options = { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'shortOffset' };
    this.format = new Intl.DateTimeFormat('en', options);
  }

  /** Seconds since 1970 of a record's instant. */
  static seconds(text) {
    return Date.parse(text.replace(' UT1', 'Z').replace(/Z?$/, 'Z')) / 1000;
  }

  parts(text, step) {
    const date = new Date(Math.round(Clock.seconds(text) / step) * step * 1000);
    return Object.fromEntries(this.format.formatToParts(date).map(part => [part.type, part.value]));
  }

  /** The time of day; with the day if it is another one. */
  text(text, { seconds = false, zone = false } = {}) {
    const of = this.parts(text, seconds ? 1 : 60);
    const day = Number(of.day) === Number(this.day.slice(8, 10)) ? '' : ` (${of.month} ${of.day})`;
    return `${of.hour}:${of.minute}${seconds ? `:${of.second}` : ''}${zone ? ` ${this.short(text)}` : ''}${day}`;
  }

  /** `UTC`, `UT1`, or the offset at an instant: `UTC+3`. */
  short(text) {
    const utc = text.endsWith('UT1') ? 'UT1' : 'UTC';
    const offset = this.parts(text, 1).timeZoneName.replace(/^(GMT|UTC)/, '').replace(/^[+-]0$/, '');
    return utc + offset;
  }

  /** The heading of a column: the zone and its offset. */
  name(text) {
    return this.zone === 'UTC' ? this.short(text) : `${this.zone.split('/').pop().replaceAll('_', ' ')}, ${this.short(text)}`;
  }
}

/** Options of the list of time zones: UTC, that of this device, and all others. */
export function zones() {
  const option = (value, text) => Object.assign(document.createElement('option'), { value, textContent: text });
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const first = [option('UTC', 'UTC')];
  if (own && own !== 'UTC') first.push(option(own, `This device: ${own}`));
  const group = Object.assign(document.createElement('optgroup'), { label: 'All zones' });
  const names = Intl.supportedValuesOf?.('timeZone') ?? [];
  group.append(...names.filter(name => name !== own && name !== 'UTC').map(name => option(name, name.replaceAll('_', ' '))));
  return [...first, group];
}
