// The list of schedules.
import { can, get, inApplication } from './api.js';
import { plural, targetName } from './format.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { Card, Command, Empty, ErrorBox, Head, More, Skeleton, State, Time } from './parts.js';
import { link, runLink, scheduleLink, setQuery } from './router.js';
import { html, useEffect, useState } from './ui.js';

const PAGE = 50;
const SHOWN = { '': 'All', paused: 'Paused', failing: 'Failing' };

/** The state of a schedule: [state, text]. */
export function stateOf(schedule) {
  if (schedule.unreadable) return ['missed', 'Unreadable'];
  if (schedule.paused) return ['paused', 'Paused'];
  if (!schedule.nextRuns || schedule.nextRuns.length === 0) return ['succeeded', 'Ended'];
  return ['planned', 'Active'];
}

export const isFailing = (schedule) =>
  Boolean(schedule.lastRun && ['dead', 'quarantined', 'missed'].includes(schedule.lastRun.state));

/** The ledger of the last day of the schedules of a page, by name: one request. */
function useHistory(pages) {
  const [rows, setRows] = useState({});
  const key = pages.map((page) => page.first).join();
  useEffect(() => {
    let current = true;
    const read = async () => {
      const all = {};
      let cursor;
      for (let i = 0; i < pages.length; i++) {
        const to = new Date().toISOString();
        const page = await get('v1/timeline', {
          from: new Date(Date.now() - 86400e3).toISOString(),
          to,
          limit: PAGE,
          cursor,
        });
        for (const row of page.items) all[row.schedule] = row.past;
        cursor = page.next;
        if (!cursor) break;
      }
      if (current) setRows(all);
    };
    if (pages.length) read().catch(() => {});
    return () => {
      current = false;
    };
  }, [key, pages.length ? pages[0].at : 0]);
  return rows;
}

/** One mark for each of the last twenty runs or missed instants. */
export function Sparkline({ entries }) {
  const last = (entries || []).slice(-20);
  const longest = Math.max(
    1,
    ...last.map((entry) =>
      entry.startedAt && entry.endedAt ? Date.parse(entry.endedAt) - Date.parse(entry.startedAt) : 0,
    ),
  );
  const bad = last.filter((entry) => ['dead', 'missed', 'quarantined'].includes(entry.state)).length;
  const fills = {
    succeeded: 'fill-good',
    dead: 'fill-bad',
    running: 'fill-info',
    missed: 'fill-warn',
    quarantined: 'fill-odd',
  };
  return html`<span class="spark" role="img" aria-label=${last.length ? `${plural(last.length, 'instant')} in the last day, ${bad} failed or missed` : 'no instant in the last day'}>${last.map((entry) => html`<i class=${fills[entry.state] || 'fill-quiet'} title=${entry.state} style=${{ height: `${entry.startedAt && entry.endedAt ? 5 + (13 * (Date.parse(entry.endedAt) - Date.parse(entry.startedAt))) / longest : 5}px` }}></i>`)}</span>`;
}

export function SchedulesPage({ query }) {
  const search = query.get('name') || '';
  const shown = query.get('state') || '';
  const [tail, setTail] = useState([]);
  const first = useLoad(
    'schedules ' + search,
    () => get('v1/schedules', { limit: PAGE, prefix: search || undefined }),
    { kinds: ['schedule', 'run'], every: 10000 },
  );
  useEffect(() => setTail([]), [search]);
  const pages = [first.data && { ...first.data, at: first.data }, ...tail]
    .filter(Boolean)
    .map((page) => ({ ...page, first: page.items[0] && page.items[0].name }));
  const history = useHistory(search ? [] : pages);
  const all = pages.flatMap((page) => page.items);
  const items = all.filter((one) =>
    shown === 'paused' ? one.paused : shown === 'failing' ? isFailing(one) || one.unreadable : true,
  );
  const next = pages.length ? pages[pages.length - 1].next : null;
  const more = async () => {
    const page = await get('v1/schedules', { limit: PAGE, cursor: next, prefix: search || undefined });
    setTail([...tail, page]);
  };
  return html`<${Head} title="Schedules">${can('manage') && html`<a class="button button-main" href="#/schedules/new"><${Icon} name="plus" />New schedule</a>`}<//>
    <div class="stack">
      <div class="search" role="search"><div class="search-box"><${Icon} name="search" /><input data-search type="search" aria-label="Schedules whose name begins with" placeholder="Name begins with…" value=${search} onInput=${(event) => setQuery({ name: event.target.value.trim() }, { replace: true })} autocomplete="off" spellcheck="false" /></div>
      <div class="segmented" role="group" aria-label="Show">${Object.entries(SHOWN).map(([key, name]) => html`<button type="button" aria-pressed=${key === shown ? 'true' : 'false'} onClick=${() => setQuery({ state: key })}>${name}</button>`)}</div></div>
    <${ErrorBox} error=${first.error} retry=${first.reload} />
    ${
      !first.data
        ? html`<${Card}><${Skeleton} rows=${10} /><//>`
        : all.length === 0 && !search
          ? html`<${NoSchedules} />`
          : html`<${Card}>
      ${
        items.length === 0
          ? html`<${Empty} icon="search" title="No schedule matches"><p>${shown ? `Among the schedules that are loaded, none is ${shown}.` : `No schedule has a name that begins with "${search}".`}</p><a class="button" href="#/schedules">Show all</a><//>`
          : html`<div class="table-wrap">
            <table>
            <thead><tr>
            <th>State</th>
            <th>Name</th>
            <th class="c-mid">Timing</th>
            <th>Next run</th>
            <th class="c-narrow">Last run</th>
            <th class="c-mid">Last day</th>
            <th class="c-wide">Handler or endpoint</th></tr>
            </thead>
        <tbody>${items.map((one) => html`<${Row} key=${one.name} schedule=${one} entries=${history[one.name]} />`)}</tbody></table></div>`
      }
      <${More} next=${next} load=${more} /><//>`
    }</div>`;
}

function Row({ schedule, entries }) {
  const [state, text] = stateOf(schedule);
  const last = schedule.lastRun;
  return html`<tr data-row><td><${State} state=${state} text=${text} note=${schedule.paused && schedule.paused.reason} /></td>
    <td><a class="main-link" href=${scheduleLink(schedule.name)}>${schedule.name}</a></td>
    <td class="c-mid">${schedule.description}${schedule.when.zone && schedule.when.cron && !schedule.description.includes(schedule.when.zone) ? html`<div class="under">${schedule.when.zone}</div>` : ''}</td>
    <td><${Time} at=${schedule.nextRuns && schedule.nextRuns[0]} none=${schedule.paused ? (schedule.paused.until ? html`until <${Time} at=${schedule.paused.until} />` : 'until resumed') : '–'} /></td>
    <td class="c-narrow nowrap">${last ? html`${last.run ? html`<a href=${runLink(last.run)}><${State} state=${last.state} /></a>` : html`<${State} state=${last.state} />`} <${Time} at=${last.endedAt || last.startedAt || last.plannedAt} />` : html`<span class="quiet">–</span>`}</td>
    <td class="c-mid"><${Sparkline} entries=${entries} /></td>
    <td class="c-wide">${targetName(schedule.target)}</td></tr>`;
}

function NoSchedules() {
  return html`<${Card}><${Empty} icon="schedules" title="No schedules yet"><p>A schedule starts runs at planned instants: with a cron expression, at an interval, or once.</p>
    ${can('manage') && html`<div class="row"><a class="button button-main" href="#/schedules/new"><${Icon} name="plus" />New schedule</a></div>`}
    ${
      inApplication
        ? html`<p>In the code of the application:</p>
      <${Command} text=${'.schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))'} />`
        : html`<p>Or with the command:</p>
      <${Command} text="carillon schedule create hello --every 10s --handler demo.hello" /><${Command} text=${'carillon schedule create nightly --cron "0 2 * * *" --zone Europe/Paris --handler report'} />`
    }<//><//>`;
}
