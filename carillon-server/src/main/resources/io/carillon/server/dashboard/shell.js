// The menu: pages, live switch, theme, who is logged in.
import { get, inApplication, logOut, reachable, sees, session } from './api.js';
import { count, setZone, zone } from './format.js';
import { Icon } from './icons.js';
import { openHelp, openPalette } from './keys.js';
import { paused, setPaused, streamState } from './live.js';
import { SHARED, useLoad } from './load.js';
import { ProjectSwitch, roleOf } from './people.js';
import { act } from './parts.js';
import { route } from './router.js';
import { classes, html, saveSetting, setting, useEffect, useState, useStore } from './ui.js';

const PAGES = [
  ['', 'Home', 'home'],
  ['schedules', 'Schedules', 'schedules'],
  ['timeline', 'Timeline', 'timeline'],
  ['runs', 'Runs', 'runs'],
  ['queues', 'Queues', 'queues'],
  ['dead', 'Dead letters', 'dead'],
  ['events', 'Events', 'events'],
  ['endpoints', 'Endpoints', 'endpoints'],
  null,
  ['nodes', 'Nodes', 'nodes'],
  ['bulk', 'Bulk actions', 'bulk'],
  ['audit', 'Audit', 'audit'],
  ['settings', 'Settings', 'settings'],
];

export function Side({ path }) {
  useStore(session);
  const [open, setOpen] = useState(false);
  const current = useStore(route);
  useEffect(() => setOpen(false), [current.text]);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event) => event.key === 'Escape' && setOpen(false);
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [open]);
  return html`<div>
    <header class="top"><button type="button" class="icon-button" aria-label="Menu" aria-expanded=${open ? 'true' : 'false'} aria-controls="side" onClick=${() => setOpen(!open)}><${Icon} name=${open ? 'close' : 'menu'} /></button><a class="brand" href="#/"><${Icon} name="schedules" size=${20} /> Carillon</a><button type="button" class="icon-button" aria-label="Search" onClick=${openPalette}><${Icon} name="search" /></button></header>
    <aside id="side" aria-label="Menu" class=${classes('side', open && 'open')}>
      <a class="brand" href="#/"><${Icon} name="schedules" size=${22} /> Carillon</a>
      <${ProjectSwitch} />
      <nav aria-label="Pages">${PAGES.map((page) => (page === null ? html`<div class="gap"></div>` : sees(page[0]) && html`<${PageLink} page=${page} current=${path === page[0]} />`))}</nav>
      <${Foot} />
    </aside></div>`;
}

function PageLink({ page: [name, text, icon], current }) {
  return html`<a href=${'#/' + name} aria-current=${current ? 'page' : undefined}><${Icon} name=${icon} />${text}${name === 'dead' && html`<${DeadCount} />`}</a>`;
}

/** The totals of the project, shared by the menu and the tabs. */
export const useTotals = () => 
  useLoad('totals', (how) => get('v1/stats', {}, how), { kinds: ['run', 'bulk'], every: 15000, ...SHARED }).data;

function DeadCount() {
  const totals = useTotals();
  const dead = totals ? (totals.dead || 0) + (totals.quarantined || 0) : 0;
  return dead > 0 ? html`<span class="badge" title="dead and quarantined runs">${count(dead)}</span>` : null;
}

function Foot() {
  const caller = useStore(session);
  return html`<div class="side-foot">
    <button type="button" class="live" onClick=${openPalette}><${Icon} name="search" /> Search <span class="live-action"><kbd>Ctrl K</kbd></span></button>
    <${LiveSwitch} />
    <${ThemeSwitch} />
    <${ZoneSwitch} />
    <div class="who"><strong>${caller.project}</strong>${caller.user ? caller.user.name || caller.user.subject : caller.actor}<br />${caller.user ? roleOf(caller) : caller.scopes.join(', ')}</div>
    <div class="row"><button type="button" class="icon-button" title="Keyboard (?)" aria-label="Keyboard shortcuts" onClick=${openHelp}><kbd>?</kbd></button>
      ${!inApplication && html`<button type="button" class="icon-button" title="Log out" aria-label="Log out" onClick=${() => act(logOut)}><${Icon} name="out" /></button>`}</div>
  </div>`;
}

function LiveSwitch() {
  const stream = useStore(streamState);
  const isPaused = useStore(paused);
  const there = useStore(reachable);
  const state = isPaused ? 'paused' : there ? stream : 'unreachable';
  const text = {
    live: 'Live',
    connecting: 'Connecting…',
    polling: 'Every few seconds',
    paused: 'Paused',
    unreachable: 'No connection',
  }[state];
  return html`<button type="button" class=${'live live-' + state} data-live=${state} aria-pressed=${isPaused ? 'true' : 'false'} title=${isPaused ? 'Show changes again (p)' : 'Stop changes on this page (p)'} onClick=${() => setPaused(!isPaused)}><span class="dot"></span>${text}<span class="live-action">${isPaused ? 'Resume' : 'Pause'}</span></button>`;
}

export function setTheme(next) {
  saveSetting('theme', next);
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  window.dispatchEvent(new Event('themechange'));
}

export function ThemeSwitch() {
  const [theme, change] = useState(setting('theme', 'system'));
  const choose = (next) => {
    setTheme(next);
    change(next);
  };
  return html`<div class="segmented" role="group" aria-label="Theme">${[
    ['light', 'sun', 'Light'],
    ['dark', 'moon', 'Dark'],
    ['system', 'system', 'As the system'],
  ].map(
    ([value, icon, name]) =>
      html`<button type="button" aria-pressed=${theme === value ? 'true' : 'false'} title=${name} aria-label=${name} onClick=${() => choose(value)}><${Icon} name=${icon} size=${14} /></button>`,
  )}</div>`;
}

export function ZoneSwitch() {
  const choice = useStore(zone);
  return html`<div class="segmented" role="group" aria-label="Time zone of absolute times">${[
    ['local', 'My time'],
    ['UTC', 'UTC'],
  ].map(
    ([value, name]) =>
      html`<button type="button" aria-pressed=${choice === value ? 'true' : 'false'} onClick=${() => setZone(value)}>${name}</button>`,
  )}</div>`;
}
