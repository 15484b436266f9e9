// Dead and quarantined runs, grouped by their error.
import { get, post } from './api.js';
import { BulkProgress } from './bulk-actions.js';
import { brief, count, errorKey, errorOf, firstLine, plural, runTarget, WEBHOOK } from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Card,
  confirmAction,
  Empty,
  ErrorBox,
  Head,
  Skeleton,
  State,
  Tabs,
  Time,
  toast,
} from './parts.js';
import { link, qualifier, runLink, runsLink } from './router.js';
import { html, useState } from './ui.js';

const PAGES = 5;

async function readDead(state) {
  const items = [];
  let cursor;
  // A page reads a limited number of runs, and may find none of them.
  for (let i = 0; i < PAGES || (items.length === 0 && i < 4 * PAGES); i++) {
    const page = await get('v1/runs', { state, limit: 200, cursor });
    items.push(...page.items);
    cursor = page.next;
    if (!cursor) break;
  }
  return { items, more: Boolean(cursor) };
}

function groupsOf(items) {
  const groups = new Map();
  for (const run of items) {
    const key = errorKey(errorOf(run)) + '\n' + runTarget(run);
    const group = groups.get(key) || { key, error: firstLine(errorOf(run)), target: runTarget(run), runs: [] };
    group.runs.push(run);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.runs.length - a.runs.length);
}

/** A part of an error that all runs of a group contain: the search finds texts, not patterns. */
export function commonText(error) {
  const parts = errorKey(error)
    .split('…')
    .map((part) => part.trim())
    .sort((a, b) => b.length - a.length);
  return parts[0] ? parts[0].slice(0, 100) : '';
}

export function DeadPage({ query }) {
  const state = query.get('state') === 'quarantined' ? 'quarantined' : 'dead';
  const [bulk, setBulk] = useState(null);
  const dead = useLoad('dead ' + state, () => readDead(state), { kinds: ['run', 'bulk'], every: 20000 });
  const groups = dead.data ? groupsOf(dead.data.items) : [];
  const bulkAction = (action, name) =>
    act(async () => {
      const filter = { state };
      const counted = await post('v1/bulk-actions', { action, filter, dryRun: true });
      const number = count(counted.matching, counted.more);
      confirmAction({
        title: `${name} ${number} ${state} runs?`,
        confirm: `${name} ${number}`,
        tone: action === 'delete' ? 'bad' : undefined,
        typed: counted.matching >= 1000 ? String(counted.matching) : undefined,
        text:
          action === 'redrive'
            ? 'Each becomes a new waiting run with the same payload.'
            : 'The runs and their payloads are removed. This cannot be undone.',
        run: async () => {
          const started = await post('v1/bulk-actions', { action, filter });
          setBulk(started.id);
          toast('The bulk action has started.');
        },
      });
    });
  return html`<${Head} title="Dead letters" sub="Runs that have no attempt left, or were taken out because their node died with them.">${dead.data && dead.data.items.length > 0 && html`<${ActionButton} icon="redo" onClick=${() => bulkAction('redrive', 'Redrive')}>Redrive all<//>
    <${ActionButton} icon="close" tone="bad" onClick=${() => bulkAction('delete', 'Delete')}>Delete all<//>`}<//>
    <${Tabs} label="States" current=${state} items=${[
      { key: 'dead', name: 'Dead', icon: 'dead', href: '#/dead' },
      { key: 'quarantined', name: 'Quarantined', icon: 'quarantined', href: link('dead', { state: 'quarantined' }) },
    ]} />
    <div class="stack">${bulk && html`<${BulkProgress} id=${bulk} close=${() => setBulk(null)} />`}<${ErrorBox} error=${dead.error} retry=${dead.reload} />
    ${
      !dead.data
        ? !dead.error && html`<${Card}><${Skeleton} /><//>`
        : groups.length === 0
          ? html`<${Card}><${Empty} icon="succeeded" title=${dead.data.more ? `None of the newest runs is ${state}` : `No ${state} runs`}><p>${state === 'dead' ? 'A run dies when its last attempt fails. It stays here until it is redriven or deleted, or its retention ends.' : 'A run is quarantined if nodes repeatedly died while they executed it alone.'}</p><//><//>`
          : html`<${Card}><div class="list-bar"><span class="quiet">${plural(groups.length, 'group')} of ${dead.data.more ? 'the newest ' : ''}${plural(dead.data.items.length, 'run')}</span></div>
            <div class="table-wrap">
            <table>
            <thead><tr>
            <th class="right">Runs</th>
            <th>Error</th>
            <th class="c-narrow">Handler or endpoint</th>
            <th class="c-mid">Newest</th>
            <th class="c-mid">Oldest shown</th></tr>
            </thead>
            <tbody>${groups.map((group) => html`<${Group} key=${group.key} group=${group} state=${state} />`)}</tbody></table></div>
        ${dead.data.more && html`<div class="note">Older runs are not in these groups. <a href=${runsLink('state:' + state)}>All ${state} runs</a></div>`}<//>`
    }</div>`;
}

function Group({ group, state }) {
  const text = commonText(group.error);
  const newest = group.runs[0];
  const q = [
    `state:${state}`,
    newest.target.handler && newest.target.handler !== WEBHOOK && qualifier('handler', newest.target.handler),
    text && 'error:"' + text.replace(/["\\]/g, '\\$&') + '"',
  ]
    .filter(Boolean)
    .join(' ');
  return html`<tr data-row><td class="num-col"><a href=${runsLink(q)}>${count(group.runs.length)}</a></td>
    <td><a class="main-link" href=${group.runs.length === 1 ? runLink(newest.id) : runsLink(q)}>${brief(group.error) || html`<${State} state=${state} text="No error text" />`}</a></td>
    <td class="c-narrow">${group.target}</td>
    <td class="c-mid"><a href=${runLink(newest.id)}><${Time} at=${newest.endedAt} /></a></td>
    <td class="c-mid"><${Time} at=${group.runs[group.runs.length - 1].endedAt} /></td></tr>`;
}
