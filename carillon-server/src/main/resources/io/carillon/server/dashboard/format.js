// Texts for times, durations and numbers.
import { createStore, saveSetting, setting } from './ui.js';
import { ExactNumber, serverNow } from './api.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The zone of absolute times: 'local' or 'UTC'. */
export const zone = createStore(setting('zone', 'local'));
export function setZone(next) {
  saveSetting('zone', next);
  zone.set(next);
}
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
export const zoneName = (choice = zone.get()) => (choice === 'UTC' ? 'UTC' : localZone);

const formats = new Map();
function format(timeZone, options) {
  const key = timeZone + JSON.stringify(options);
  if (!formats.has(key)) {
    let made;
    try {
      made = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', ...options });
    } catch {
      made = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', hourCycle: 'h23', ...options });
    }
    formats.set(key, made);
  }
  return formats.get(key);
}

/** Returns a time with date, seconds and zone, in the order of ISO 8601. */
export function absolute(instant, timeZone = zoneName(), { seconds = true, zoneText = true, weekday = false } = {}) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return String(instant);
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' };
  if (seconds) options.second = '2-digit';
  if (zoneText) options.timeZoneName = 'short';
  if (weekday) options.weekday = 'short';
  const parts = Object.fromEntries(
    format(timeZone, options)
      .formatToParts(date)
      .map((part) => [part.type, part.value]),
  );
  return (
    (weekday ? parts.weekday + ' ' : '') +
    `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}` +
    (seconds ? ':' + parts.second : '') +
    (zoneText ? ' ' + parts.timeZoneName : '')
  );
}

export function clock(instant, timeZone = zoneName()) {
  return format(timeZone, { hour: '2-digit', minute: '2-digit' }).format(new Date(instant));
}

export function day(instant, timeZone = zoneName()) {
  return format(timeZone, { weekday: 'short', day: 'numeric', month: 'short' }).format(new Date(instant));
}

function amount(ms) {
  if (ms < MINUTE) return Math.max(0, Math.floor(ms / SECOND)) + ' s';
  if (ms < HOUR) return Math.floor(ms / MINUTE) + ' min';
  if (ms < 2 * DAY) return Math.floor(ms / HOUR) + ' h';
  return Math.floor(ms / DAY) + ' d';
}

/** Returns "in 5 s" or "3 min ago"; the date if it is more than 30 days away. */
export function relative(instant, now = serverNow()) {
  const at = Date.parse(instant);
  const distance = Math.abs(at - now);
  if (distance > 30 * DAY) return absolute(instant, zoneName(), { seconds: false, zoneText: false });
  if (distance < SECOND) return 'now';
  return at > now ? 'in ' + amount(distance) : amount(distance) + ' ago';
}

const ISO = /^(-)?P(?:(\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$/;

/** Returns the milliseconds of an ISO 8601 duration; NaN if it is none. */
export function millis(text) {
  const parts = ISO.exec(text || '');
  if (!parts) return NaN;
  const [, minus, d = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  return (
    (minus ? -1 : 1) * (Number(d) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND)
  );
}

/** Returns a duration of milliseconds such as "12 ms", "1.4 s" or "2 h 5 min". */
export function span(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return '−' + span(-ms);
  if (ms < SECOND) return Math.round(ms) + ' ms';
  if (ms < 10 * SECOND) return (ms / SECOND).toFixed(1) + ' s';
  if (ms < MINUTE) return Math.round(ms / SECOND) + ' s';
  const units = [
    ['d', DAY],
    ['h', HOUR],
    ['min', MINUTE],
    ['s', SECOND],
  ];
  const first = units.findIndex(([, size]) => ms >= size);
  return units
    .slice(first, first + 2)
    .map(([name, size], i) => {
      const value = Math.floor((i === 0 ? ms : ms % units[first][1]) / size);
      return i > 0 && value === 0 ? '' : value + ' ' + name;
    })
    .filter(Boolean)
    .join(' ');
}

export const isoSpan = (text) => (text ? span(millis(text)) : '–');
export const between = (from, to) => Date.parse(to) - Date.parse(from);

const numbers = new Intl.NumberFormat(undefined);
export const count = (value, more = false) =>
  value === undefined || value === null ? '–' : numbers.format(value) + (more ? '+' : '');
export const plural = (n, one, many = one + 's') => count(n) + ' ' + (n === 1 ? one : many);

/** Returns the first line of an error. */
export function firstLine(text) {
  return (text || '').split('\n', 1)[0].trim();
}

/** Returns a text of the server with its instants in the zone of the viewer. */
export const friendly = (text) =>
  (text || '').replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z/g, (instant) => absolute(instant));

/** The error of a run: of its last attempt, or why it ended. */
export const errorOf = (run) => run.lastError || run.reason || '';

/** Returns the first line of an error without the package of its class, for lists. */
export const brief = (text) => firstLine(text).replace(/^(?:[a-z_$][\w$]*\.)+(?=[A-Z])/, '');

/** Groups errors that differ in numbers and ids only. */
export function errorKey(text) {
  return firstLine(text)
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi, '…')
    .replace(/\b\w+_[0-9a-hjkmnp-tv-z]{26}\b/gi, '…')
    .replace(/\d+/g, '…')
    .slice(0, 300);
}

/** Returns JSON text with indentation, and numbers exactly as they were sent. */
export function pretty(value, indent = '') {
  if (value instanceof ExactNumber) return value.text;
  const deeper = indent + '  ';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return '[\n' + value.map((one) => deeper + pretty(one, deeper)).join(',\n') + '\n' + indent + ']';
  }
  if (value && typeof value === 'object') {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    return (
      '{\n' +
      entries.map(([key, one]) => deeper + JSON.stringify(key) + ': ' + pretty(one, deeper)).join(',\n') +
      '\n' +
      indent +
      '}'
    );
  }
  return JSON.stringify(value ?? null);
}

/** Returns the name of what a run calls; of an event, its topic and type. */
export function targetName(target) {
  if (target && target.event) return target.event.topic + '/' + target.event.type;
  return target ? target.endpoint || target.handler || target.url || '' : '';
}
export const WEBHOOK = 'webhook';
/** What a run of a list does: its handler, or the receiver of its webhook, which a list does not name directly. */
export function runTarget(run) {
  if (!run.target || run.target.handler !== WEBHOOK) return targetName(run.target);
  if (run.queue.startsWith('endpoint.')) return run.queue.slice('endpoint.'.length);
  return (run.delivery && run.delivery.url) || WEBHOOK;
}
export const targetKind = (target) =>
  target && target.event ? 'event' : target && target.endpoint ? 'endpoint' : target && target.url ? 'url' : 'handler';
