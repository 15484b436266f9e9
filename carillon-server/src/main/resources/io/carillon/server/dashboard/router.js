// The address of a page is in the fragment of the URL: '#/runs?q=state:dead'. It works under any path prefix.
import { createStore } from './ui.js';

function parse() {
  const text = location.hash.replace(/^#/, '') || '/';
  const [path, query = ''] = text.split('?', 2);
  let parts;
  try {
    parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    parts = ['not-found'];
  }
  return { parts, query: new URLSearchParams(query), text };
}

export const route = createStore(parse());
/** Whether the page was reached with the back or forward button, so that it shows what it showed before. */
export let traversed = false;

const scrolls = new Map();
let entry = null;

function enter() {
  const known = history.state && history.state.carillon;
  if (entry) scrolls.set(entry, [window.scrollX, window.scrollY]);
  traversed = Boolean(known && known !== entry);
  entry = known || Math.random().toString(36).slice(2);
  if (!known) history.replaceState({ carillon: entry }, '');
}

export function restoreScroll() {
  const position = traversed ? scrolls.get(entry) : null;
  if (position) window.scrollTo(...position);
}

export function startRouter() {
  history.scrollRestoration = 'manual';
  enter();
  window.addEventListener('scroll', () => scrolls.set(entry, [window.scrollX, window.scrollY]), { passive: true });
  window.addEventListener('hashchange', () => {
    enter();
    route.set(parse());
    if (!traversed) window.scrollTo(0, 0);
  });
}

export function go(text) {
  location.hash = text;
}

/** Changes the query of the page. A filter is a step of the history, typing is none. */
export function setQuery(changes, { replace = false } = {}) {
  const { parts, query } = route.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === null || value === undefined) next.delete(name);
    else next.set(name, value);
  }
  const text = link(parts, Object.fromEntries(next)).slice(1);
  if (!replace) return go(text);
  history.replaceState(history.state, '', '#' + text);
  route.set(parse());
}

/** Returns the address of a page. */
export function link(parts, query = {}) {
  const entries = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined && value !== null);
  const path = '#/' + [].concat(parts).map(encodeURIComponent).join('/');
  return entries.length ? path + '?' + new URLSearchParams(entries).toString() : path;
}

export const runsLink = (q) => link('runs', { q });
export const runLink = (id) => link(['runs', id]);
export const scheduleLink = (name) => link(['schedules', name]);
export const eventLink = (id) => link(['events', id]);
export const subscriptionLink = (name) => link(['subscriptions', name]);
export const queueLink = (name) => link('queues', { name });
/** Returns a qualifier of the search, in quotes if the value needs them. */
export const qualifier = (name, value) =>
  name + ':' + (/[\s"]/.test(value) ? '"' + value.replace(/["\\]/g, '\\$&') + '"' : value);
