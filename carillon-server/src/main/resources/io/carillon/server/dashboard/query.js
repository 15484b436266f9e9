// The search language of runs: 'state:dead handler:mail -queue:slow error:"timed out" since:2h'.
import { millis } from './format.js';
import { serverNow } from './api.js';
import { qualifier } from './router.js';

export const RUN_STATES = ['waiting', 'running', 'succeeded', 'dead', 'cancelled', 'quarantined', 'skipped', 'missed'];
export const QUALIFIERS = {
  state: 'waiting, running, succeeded, dead …',
  handler: 'name of the handler',
  queue: 'name of the queue',
  schedule: 'name of the schedule',
  workflow: 'true: runs that have recorded a step',
  error: 'text in the last error',
  since: '2h, 30m, 7d, or an instant',
  before: 'an instant',
  payload: 'JSON that the payload contains',
  '-state': 'not this state',
  '-queue': 'not this queue',
  '-handler': 'not this handler',
};

const TOKEN = /(-?[A-Za-z]+):("(?:[^"\\]|\\.)*"?|\{.*\}|\S*)|(\S+)/g;
const UNITS = { s: 1000, m: 60000, min: 60000, h: 3600000, d: 86400000 };

function instant(text) {
  const ago = /^(\d+)\s*(s|m|min|h|d)$/.exec(text);
  if (ago) return new Date(Math.floor((serverNow() - Number(ago[1]) * UNITS[ago[2]]) / 1000) * 1000).toISOString();
  const iso = millis(text);
  if (Number.isFinite(iso)) return new Date(serverNow() - iso).toISOString();
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** Splits a search into tokens {name, value}; a word without a qualifier has the name ''. */
export function tokens(text) {
  return [...text.matchAll(TOKEN)].map(([, name, value, word]) =>
    word !== undefined
      ? { name: '', value: word }
      : { name, value: value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : value },
  );
}

const PARAMETERS = {
  state: 'state',
  handler: 'handler',
  queue: 'queue',
  schedule: 'schedule',
  workflow: 'workflow',
  error: 'error',
  payload: 'payload',
  '-state': 'notState',
  '-queue': 'notQueue',
  '-handler': 'notHandler',
};

/** Returns {params, faults, bulk, id} of a search. `bulk` is the filter of a bulk action; null if there is none. */
export function parseSearch(text) {
  const params = {};
  const faults = [];
  let id = null;
  for (const { name, value } of tokens(text)) {
    if (name === '') {
      if (/^run_[0-9a-z]{26}$/.test(value)) id = value;
      else faults.push(`"${value}" has no qualifier. Write error:${value} to search in errors, or handler:${value}.`);
    } else if (value === '') faults.push(`${name}: needs a value.`);
    else if (name === 'since' || name === 'before') {
      const at = instant(value);
      if (at) params[name === 'since' ? 'from' : 'to'] = at;
      else faults.push(`${name}:${value} is no time. Write ${name}:2h, ${name}:7d or ${name}:2026-03-01T12:00:00Z.`);
    } else if (!PARAMETERS[name])
      faults.push(`Unknown qualifier "${name}". Known are ${Object.keys(QUALIFIERS).join(', ')}.`);
    else if (params[PARAMETERS[name]] !== undefined) faults.push(`${name}: can be used once.`);
    else if (name.endsWith('state') && !RUN_STATES.includes(value))
      faults.push(`There is no state "${value}". States are ${RUN_STATES.join(', ')}.`);
    else if (name === 'workflow' && value !== 'true') faults.push('Write workflow:true, or leave it out.');
    else params[PARAMETERS[name]] = value;
  }
  const others = Object.keys(params).filter((name) => !['state', 'queue', 'handler'].includes(name));
  const bulk =
    params.state && others.length === 0
      ? {
          state: params.state,
          ...(params.queue && { queue: params.queue }),
          ...(params.handler && { handler: params.handler }),
        }
      : null;
  return { params, faults, bulk, id };
}

/** Returns the search with another value of a qualifier; without it if the value is empty. */
export function withQualifier(text, name, value) {
  const rest = tokens(text)
    .filter((token) => token.name !== name)
    .map((token) => (token.name ? qualifier(token.name, token.value) : token.value));
  return [...(value ? [qualifier(name, value)] : []), ...rest].join(' ');
}
