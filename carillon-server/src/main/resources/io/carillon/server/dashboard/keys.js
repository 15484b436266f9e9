// The keyboard and the command palette.
import { can, get, sees, session } from './api.js';
import { Icon } from './icons.js';
import { paused, setPaused } from './live.js';
import { dialogIsOpen, openDialog } from './parts.js';
import { eventLink, go, link, queueLink, runLink, scheduleLink, subscriptionLink } from './router.js';
import { html, useEffect, useRef, useState } from './ui.js';

const GO = {
  h: ['', 'Home'],
  s: ['schedules', 'Schedules'],
  t: ['timeline', 'Timeline'],
  r: ['runs', 'Runs'],
  q: ['queues', 'Queues'],
  d: ['dead', 'Dead letters'],
  v: ['events', 'Events'],
  e: ['endpoints', 'Endpoints'],
  n: ['nodes', 'Nodes'],
  b: ['bulk', 'Bulk actions'],
  a: ['audit', 'Audit'],
  ',': ['settings', 'Settings'],
};
let goUntil = 0;

const isTyping = (target) =>
  target.closest && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]');

function move(step) {
  const rows = [...document.querySelectorAll('[data-row] .main-link')];
  if (!rows.length) return;
  const row = document.activeElement && document.activeElement.closest('[data-row]');
  const at = row ? rows.findIndex((one) => row.contains(one)) : -1;
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
  next.focus();
  next.closest('[data-row]').scrollIntoView({ block: 'nearest' });
}

function pick() {
  const row = document.activeElement && document.activeElement.closest('[data-row]');
  const box = row && row.querySelector('input[type=checkbox]');
  if (box) box.click();
}

function press(event) {
  if (!session.get()) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    return openPalette();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || dialogIsOpen()) return;
  if (Date.now() < goUntil && GO[event.key]) {
    goUntil = 0;
    event.preventDefault();
    return go('/' + GO[event.key][0]);
  }
  goUntil = 0;
  const actions = {
    g: () => {
      goUntil = Date.now() + 1500;
    },
    '?': openHelp,
    '/': () => (document.querySelector('[data-search]') || { focus: openPalette }).focus(),
    j: () => move(1),
    k: () => move(-1),
    x: pick,
    o: () =>
      document.activeElement.closest('[data-row]') &&
      document.activeElement.closest('[data-row]').querySelector('.main-link').click(),
    p: () => setPaused(!paused.get()),
    '[': () => document.querySelector('[data-previous]')?.click(),
    ']': () => document.querySelector('[data-next]')?.click(),
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

export const startKeys = () => document.addEventListener('keydown', press);

const HELP = [
  ['Ctrl K', 'Search pages, schedules, runs, queues and events'],
  ['/', 'Go to the search field of the page'],
  ['j  k', 'Next and previous row'],
  ['o', 'Open the row'],
  ['x', 'Select the row'],
  ['[  ]', 'Previous and next run of the list'],
  ['p', 'Pause and resume changes on the page'],
  ['Esc', 'Close a dialog'],
  ['?', 'This list'],
];

export function openHelp() {
  openDialog(
    'Keyboard',
    () => html`<div class="keys">${HELP.map(([keys, text]) => html`<div>${keys.split('  ').map((key) => html`<kbd>${key}</kbd> `)}</div>
      <div>${text}</div>`)}
    ${Object.entries(GO)
      .filter(([, [path]]) => sees(path))
      .map(([key, [, name]]) => html`<div><kbd>g</kbd> <kbd>${key}</kbd></div><div>${name}</div>`)}</div>`,
  );
}

async function search(text) {
  const found = [];
  const all = [
    ...Object.values(GO)
      .filter(([path]) => sees(path))
      .map(([path, name]) => ({ icon: path || 'home', name, kind: 'page', href: '#/' + path })),
    ...(can('manage') ? [{ icon: 'plus', name: 'New schedule', kind: 'action', href: '#/schedules/new' }] : []),
  ];
  const lower = text.toLowerCase();
  const pages = all.filter((one) => one.name.toLowerCase().includes(lower));
  if (!text) return pages;
  if (/^run_[0-9a-z]{26}$/.test(text)) found.push({ icon: 'runs', name: text, kind: 'run', href: runLink(text) });
  if (/^evt_[0-9a-z]{26}$/.test(text)) found.push({ icon: 'events', name: text, kind: 'event', href: eventLink(text) });
  const [schedules, queues, subscriptions, topics, begun] = await Promise.all([
    get('v1/schedules', { limit: 200 }).catch(() => ({ items: [] })),
    get('v1/queues').catch(() => ({ items: [] })),
    get('v1/subscriptions', { limit: 200 }).catch(() => ({ items: [] })),
    get('v1/topics').catch(() => ({ items: [] })),
    /^[a-z0-9._-]{1,100}$/.test(lower)
      ? get('v1/schedules', { prefix: lower, limit: 12 }).catch(() => ({ items: [] }))
      : { items: [] },
  ]);
  const names = new Set(schedules.items.map((one) => one.name).filter((name) => name.includes(lower)));
  for (const schedule of begun.items) names.add(schedule.name);
  for (const name of [...names].slice(0, 12))
    found.push({ icon: 'schedules', name, kind: 'schedule', href: scheduleLink(name) });
  for (const queue of queues.items.filter((one) => one.name.toLowerCase().includes(lower)).slice(0, 8))
    found.push({ icon: 'queues', name: queue.name, kind: 'queue', href: queueLink(queue.name) });
  for (const one of subscriptions.items.filter((item) => item.name.includes(lower)).slice(0, 8))
    found.push({ icon: 'events', name: one.name, kind: 'subscription', href: subscriptionLink(one.name) });
  for (const one of topics.items.filter((item) => item.name.includes(lower)).slice(0, 8))
    found.push({ icon: 'events', name: one.name, kind: 'topic', href: link('events', { topic: one.name }) });
  found.push(...pages, {
    icon: 'search',
    name: 'Runs with the error "' + text + '"',
    kind: 'search',
    href: link('runs', { q: 'error:' + JSON.stringify(text) }),
  });
  return found;
}

function Palette({ close }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState([]);
  const [at, setAt] = useState(0);
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(
      () =>
        search(text.trim()).then((all) => {
          if (!current) return;
          setFound(all);
          setAt(0);
        }),
      text ? 120 : 0,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  const open = (one) => {
    close();
    location.href = one.href;
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      setAt((at + step + found.length) % found.length);
    }
    if (event.key === 'Enter' && found[at]) {
      event.preventDefault();
      open(found[at]);
    }
  };
  return html`<div class="palette stack"><input ref=${input} role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${found[at] ? 'palette-' + at : undefined} aria-label="Search pages, schedules, runs, queues and events" placeholder="Page, schedule, queue, subscription, or the id of a run or event" value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${key} autocomplete="off" spellcheck="false" />
    <ul id="palette-list" role="listbox" aria-label="Results">${found.map((one, i) => html`<li id=${'palette-' + i} role="option" aria-selected=${i === at ? 'true' : 'false'} onClick=${() => open(one)} onMouseMove=${() => setAt(i)}><${Icon} name=${one.icon} />${one.name}<span class="quiet">${one.kind}</span></li>`)}</ul></div>`;
}

export function openPalette() {
  openDialog('Search', Palette);
}
