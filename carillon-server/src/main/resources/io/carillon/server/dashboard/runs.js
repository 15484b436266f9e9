// The list of runs: state tabs, search, live rows, selection and bulk actions.
import { can, get, inApplication, serverNow } from './api.js';
import { BulkProgress, RunActions } from './bulk-actions.js';
import { between, brief, count, errorOf, isoSpan, plural, runTarget, span } from './format.js';
import { useLoad } from './load.js';
import {
  Button,
  Card,
  Command,
  Copy,
  Elapsed,
  Empty,
  ErrorBox,
  Head,
  More,
  Notice,
  Skeleton,
  State,
  Tabs,
  Time,
  toast,
} from './parts.js';
import { parseSearch, withQualifier } from './query.js';
import { go, link, queueLink, runLink, runsLink, traversed } from './router.js';
import { SearchBox } from './search.js';
import { useTotals } from './shell.js';
import { classes, html, saveSetting, useEffect, useRef, useState } from './ui.js';

const TABS = [
  ['', 'All'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['dead', 'Dead'],
  ['quarantined', 'Quarantined'],
  ['cancelled', 'Cancelled'],
];
const PAGE = 50;
const NONE = new Set();
const keptLists = new Map();

export function RunsPage({ query }) {
  const text = query.get('q') || '';
  const search = parseSearch(text);
  const totals = useTotals();
  const state = search.params.state || '';
  useEffect(() => {
    if (search.id) go('/runs/' + search.id);
  }, [search.id]);
  const counts = totals
    ? { waiting: totals.waiting, running: totals.running, dead: totals.dead, quarantined: totals.quarantined }
    : {};
  const tabs = TABS.map(([key, name]) => ({
    key,
    name,
    icon: key || 'runs',
    href: runsLink(withQualifier(text, 'state', key)),
    count:
      counts[key] === undefined
        ? undefined
        : count(counts[key], totals.more && (key === 'waiting' || key === 'running')),
  }));
  return html`<${Head} title="Runs" />
    <${Tabs} items=${tabs} current=${state} label="States" />
    <div class="stack"><${SearchBox} text=${text} onSearch=${(q) => go(link('runs', { q }).slice(1))} />
    ${search.faults.length > 0 ? html`<${Notice}>${search.faults.map((fault) => html`<div>${fault}</div>`)}<//>` : html`<${RunList} key=${text} text=${text} search=${search} />`}</div>`;
}

function calm(wrap, picked) {
  const box = wrap.current;
  return (
    !(box && (box.matches(':hover') || box.contains(document.activeElement))) &&
    picked.size === 0 &&
    window.scrollY < 120
  );
}

/** Rows are changed in place. New rows wait while the pointer or the focus is in the list, or rows are selected. */
function useRows(text, search, picked, wrap) {
  const before = traversed ? keptLists.get(text) : undefined;
  const [rows, setRows] = useState(before ? before.rows : null);
  const [next, setNext] = useState(before ? before.next : null);
  const [held, setHeld] = useState(0);
  const latest = useRef(null);
  const first = useLoad('runs ' + text, () => get('v1/runs', { ...parseSearch(text).params, limit: PAGE }), {
    kinds: ['run', 'bulk'],
    every: 10000,
  });

  const apply = (items, nextCursor) => {
    const known = new Set(items.map((run) => run.id));
    const oldest = items.length ? items[items.length - 1].id : '';
    const tail = rows && nextCursor ? rows.filter((run) => run.id < oldest && !known.has(run.id)) : [];
    if (!tail.length) setNext(nextCursor);
    setRows([...items, ...tail]);
    setHeld(0);
  };
  const settle = () => latest.current && apply(latest.current.items, latest.current.next || null);

  useEffect(() => {
    if (!first.data) return;
    latest.current = first.data;
    const { items } = first.data;
    if (rows === null || calm(wrap, picked)) return apply(items, first.data.next || null);
    const byId = new Map(items.map((run) => [run.id, run]));
    const shown = new Set(rows.map((run) => run.id));
    const oldest = items.length && first.data.next ? items[items.length - 1].id : '';
    setRows(rows.map((run) => byId.get(run.id) || (run.id >= oldest ? { ...run, gone: true } : run)));
    setHeld(items.filter((run) => !shown.has(run.id)).length);
  }, [first.data]);

  useEffect(() => {
    if (rows) keptLists.set(text, { rows, next });
    if (keptLists.size > 20) keptLists.delete(keptLists.keys().next().value);
    if (rows) saveSetting('last-list', JSON.stringify({ text, ids: rows.map((run) => run.id) }));
  }, [rows, next]);

  const more = async () => {
    // A page reads a limited number of runs, and may find none of them.
    let page = { items: [], next };
    for (let turn = 0; turn < 10 && page.next && page.items.length === 0; turn++)
      page = await get('v1/runs', { ...parseSearch(text).params, limit: PAGE, cursor: page.next });
    const known = new Set(rows.map((run) => run.id));
    setRows([...rows, ...page.items.filter((run) => !known.has(run.id))]);
    setNext(page.next || null);
  };
  return { rows, next, more, held, settle, error: first.error, reload: first.reload };
}

function RunList({ text, search }) {
  const wrap = useRef(null);
  const lastPicked = useRef(null);
  const [picked, setPicked] = useState(NONE);
  const [all, setAll] = useState(null);
  const [bulk, setBulk] = useState(null);
  const list = useRows(text, search, picked, wrap);
  const { rows } = list;

  const clear = () => {
    setPicked(NONE);
    setAll(null);
  };
  const toggle = (run, index, event) => {
    const nextPicked = new Set(picked);
    const on = !picked.has(run.id);
    const from = event.shiftKey && lastPicked.current !== null ? lastPicked.current : index;
    for (let i = Math.min(from, index); i <= Math.max(from, index); i++) nextPicked[on ? 'add' : 'delete'](rows[i].id);
    lastPicked.current = index;
    setAll(null);
    setPicked(nextPicked);
  };
  const toggleAll = () => {
    setAll(null);
    setPicked(picked.size === rows.length ? NONE : new Set(rows.map((run) => run.id)));
  };
  if (list.error && !rows) return html`<${ErrorBox} error=${list.error} retry=${list.reload} />`;
  if (!rows) return html`<${Card}><${Skeleton} rows=${12} /><//>`;
  const chosen = rows.filter((run) => picked.has(run.id));
  return html`${list.error && html`<${ErrorBox} error=${list.error} />`}
    ${bulk && html`<${BulkProgress} id=${bulk} close=${() => setBulk(null)} />`}
    <div class="card" ref=${wrap} onPointerLeave=${() => list.held > 0 && calm({ current: null }, picked) && list.settle()}>
      <div class="list-bar">${
        picked.size === 0
          ? html`<span class="quiet">${rows.length === 0 ? (list.next ? 'None of the newest runs' : 'No runs') : list.next ? 'The newest ' + plural(rows.length, 'run') : plural(rows.length, 'run')}</span><span class="grow"></span>${list.held > 0 && html`<${Button} icon="redo" onClick=${list.settle}>Show ${plural(list.held, 'new run')}<//>`}`
          : html`<${RunActions} runs=${chosen} all=${all} setAll=${setAll} shownAll=${picked.size === rows.length && Boolean(list.next)} search=${search} clear=${clear} onBulk=${setBulk} reload=${list.reload} />`
      }</div>
      ${
        rows.length === 0
          ? html`<${NoRuns} text=${text} more=${list.next} />`
          : html`<div class="table-wrap"><table>
        <thead><tr>${can('manage') && html`<th class="tick"><label><input type="checkbox" aria-label="Select all rows" checked=${picked.size === rows.length} indeterminate=${picked.size > 0 && picked.size < rows.length} onClick=${toggleAll} /></label></th>`}
          <th>State</th>
            <th>Handler or endpoint</th>
            <th class="c-mid">Queue</th>
            <th>When</th>
            <th class="right c-narrow">Took</th>
            <th class="right c-huge">Late</th>
            <th class="c-mid">Error</th>
            <th class="c-wide">Id</th></tr>
            </thead>
        <tbody>${rows.map((run, index) => html`<${RunRow} key=${run.id} run=${run} picked=${picked.has(run.id)} toggle=${(event) => toggle(run, index, event)} />`)}</tbody></table></div>`
      }
      <${More} next=${list.next} load=${list.more} text=${rows.length === 0 ? 'Search older runs' : undefined} />
    </div>`;
}

/** The instant that matters in a state, with its name. */
export function whenOf(run) {
  if (run.endedAt) return [run.endedAt, 'ended'];
  if (run.state === 'running') return [run.startedAt, 'started'];
  return [run.dueAt, Date.parse(run.dueAt) > serverNow() ? 'due' : 'due since'];
}

export function Took({ run }) {
  if (run.startedAt && run.endedAt) return html`<span class="num">${span(between(run.startedAt, run.endedAt))}</span>`;
  if (run.state === 'running' && run.startedAt) return html`<${Elapsed} from=${run.startedAt} show=${span} />`;
  return html`<span class="quiet">–</span>`;
}

function RunRow({ run, picked, toggle }) {
  const [at, word] = whenOf(run);
  const line = brief(errorOf(run));
  const tries =
    run.attempt > 1
      ? `attempt ${run.attempt}${run.retry && run.retry.attempts ? ' of ' + run.retry.attempts : ''}`
      : '';
  return html`<tr data-row class=${classes(picked && 'picked', run.gone && 'gone')} title=${run.gone ? 'This run no longer matches the search.' : undefined}>
    ${can('manage') && html`<td class="tick"><label><input type="checkbox" aria-label=${'Select ' + run.id} checked=${picked} onClick=${toggle} /></label></td>`}
    <td><${State} state=${run.state} /></td>
    <td><a class="main-link" href=${runLink(run.id)}>${runTarget(run) || run.id}</a> <span class="beside c-mid">${[run.state === 'running' && run.progress && run.progress.total ? Math.floor((100 * run.progress.done) / run.progress.total) + ' %' : '', tries].filter(Boolean).join(' · ')}</span></td>
    <td class="c-mid"><a href=${queueLink(run.queue)}>${run.queue}</a></td>
    <td class="nowrap"><span class="quiet c-narrow">${word} </span><${Time} at=${at} /></td>
    <td class="num-col c-narrow"><${Took} run=${run} /></td>
    <td class="num-col c-huge">${run.late ? isoSpan(run.late) : html`<span class="quiet">–</span>`}</td>
    <td class="c-mid wide-cell"><div class="cut" title=${line}>${line || html`<span class="quiet">–</span>`}</div></td>
    <td class="c-wide"><span class="id"><code title=${run.id}>…${run.id.slice(-6)}</code><${Copy} text=${run.id} label=${'Copy ' + run.id} /></span></td></tr>`;
}

function NoRuns({ text, more }) {
  if (more)
    return html`<${Empty} icon="search" title="None of the newest runs match"><p>The search <code>${text}</code> reads many runs at a time. Older ones were not searched yet.</p><//>`;
  if (text)
    return html`<${Empty} icon="search" title="No run matches"><p>The search <code>${text}</code> finds no run. Ended runs are kept for a limited time.</p><div class="row"><a class="button" href="#/runs">Show all runs</a></div>
      <//>`;
  return html`<${Empty} icon="runs" title="No runs yet"><p>Enqueue the first one, or create a schedule.</p>
    <${Command} text=${inApplication ? 'carillon.enqueue(REPORT, new Report("eu"));' : 'carillon run enqueue --handler demo.hello --payload \'{"text":"Hello"}\''} /><div class="row"><a class="button" href="#/schedules/new">New schedule</a></div>
    <//>`;
}

export { toast };
