// Past and coming instants of all schedules on one axis.
import { get, serverNow } from './api.js';
import { absolute, clock, day, plural, span, zone, zoneName } from './format.js';
import { useLoad } from './load.js';
import { Card, Empty, ErrorBox, Head, More, Notice, Skeleton, State } from './parts.js';
import { runLink, scheduleLink, setQuery } from './router.js';
import { html, useEffect, useState, useStore } from './ui.js';

const HOUR = 3600e3;
const VIEWS = {
  '6h': ['6 hours', 6 * HOUR, 6 * HOUR],
  '24h': ['24 hours', 24 * HOUR, 24 * HOUR],
  '7d': ['Next 7 days', 24 * HOUR, 7 * 24 * HOUR],
};
const FILLS = {
  succeeded: 'fill-good',
  dead: 'fill-bad',
  quarantined: 'fill-odd',
  running: 'fill-info',
  waiting: 'fill-quiet',
  missed: 'fill-warn',
  skipped: 'fill-quiet',
  cancelled: 'fill-quiet',
};
const PAGE = 50;

export function TimelinePage({ query }) {
  const view = VIEWS[query.get('view')] ? query.get('view') : '24h';
  useStore(zone);
  const [, back, ahead] = VIEWS[view];
  const [tail, setTail] = useState([]);
  const first = useLoad(
    'timeline ' + view,
    async () => {
      const now = serverNow();
      const range = { from: new Date(now - back).toISOString(), to: new Date(now + ahead).toISOString() };
      return { now, range, ...(await get('v1/timeline', { ...range, limit: PAGE })) };
    },
    { kinds: ['schedule', 'run'], every: 30000 },
  );
  useEffect(() => setTail([]), [view]);
  const more = async () => {
    const last = tail.length ? tail[tail.length - 1] : first.data;
    const page = await get('v1/timeline', { ...first.data.range, limit: PAGE, cursor: last.next });
    setTail([...tail, page]);
  };
  return html`<${Head} title="Timeline" sub=${'All times in ' + zoneName()}><div class="segmented" role="group" aria-label="Range">${Object.entries(VIEWS).map(([key, [name]]) => html`<button type="button" aria-pressed=${key === view ? 'true' : 'false'} onClick=${() => setQuery({ view: key })}>${name}</button>`)}</div>
    <//>
    <div class="stack">
      <${ErrorBox} error=${first.error} retry=${first.reload} />${first.data ? html`<${Lanes} data=${first.data} rows=${[...first.data.items, ...tail.flatMap((page) => page.items)]} next=${tail.length ? tail[tail.length - 1].next : first.data.next} more=${more} />` : !first.error && html`<${Card}><${Skeleton} rows=${10} /><//>`}</div>`;
}

/** Changes of the offset of a zone in a range, such as the start of daylight saving. */
export function zoneChanges(from, to, timeZone) {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' });
  const offset = (ms) => parts.formatToParts(new Date(ms)).find((part) => part.type === 'timeZoneName').value;
  const found = [];
  let before = offset(from);
  for (let at = from; at < to; at += HOUR) {
    const next = offset(Math.min(at + HOUR, to));
    if (next === before) continue;
    let [low, high] = [at, Math.min(at + HOUR, to)];
    while (high - low > 60000) {
      const middle = (low + high) / 2;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    found.push({ at: high, text: `${before} → ${next}` });
    before = next;
  }
  return found;
}

function gridTimes(from, to) {
  const step = [HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR].find((one) => (to - from) / one <= 13);
  const times = [];
  const offset = new Date(from).getTimezoneOffset() * 60000;
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < to; at += step) times.push(at);
  return times;
}

/** Marks past entries that were still active when the next one of the same schedule began. */
function overlaps(past) {
  const marked = new Set();
  for (let i = 1; i < past.length; i++) {
    const end = past[i - 1].endedAt
      ? Date.parse(past[i - 1].endedAt)
      : past[i - 1].state === 'running'
        ? serverNow()
        : 0;
    if (past[i].startedAt && end > Date.parse(past[i].startedAt)) marked.add(past[i]);
  }
  return marked;
}

function Lanes({ data, rows, next, more }) {
  if (rows.length === 0)
    return html`<${Card}><${Empty} icon="timeline" title="No schedules yet">The timeline shows what ran in the last day and what runs next. <a href="#/schedules/new">Create a schedule</a><//><//>`;
  const from = Date.parse(data.range.from);
  const to = Date.parse(data.range.to);
  const left = (at) => `${(100 * ((typeof at === 'number' ? at : Date.parse(at)) - from)) / (to - from)}%`;
  const times = gridTimes(from, to);
  const changes = zoneChanges(from, to, zoneName());
  const marked = rows.flatMap((row) =>
    row.coming.filter((entry) => entry.mark !== 'none').map((entry) => [row.schedule, entry]),
  );
  const overlapping = rows.filter((row) => overlaps(row.past).size > 0);
  const grid = html`${times.map((at) => html`<div class="tl-grid" style=${{ left: left(at) }}></div>`)}${changes.map((one) => html`<div class="tl-dst" title=${'The clock changes: ' + one.text} style=${{ left: left(one.at) }}></div>`)}<div class="tl-now" style=${{ left: left(data.now) }}></div>`;
  return html`${changes.length > 0 && html`<${Notice}>${changes.map((one) => html`<div>The clock of ${zoneName()} changes at ${absolute(one.at)}: ${one.text}.</div>`)}${marked.slice(0, 5).map(([name, entry]) => html`<div><a href=${scheduleLink(name)}>${name}</a>: the instant ${entry.planned} is ${entry.mark}.</div>`)}<//>`}
    ${overlapping.length > 0 && html`<${Notice}>Runs of ${overlapping.slice(0, 5).map((row, i) => html`${i > 0 && ', '}<a href=${scheduleLink(row.schedule)}>${row.schedule}</a>`)} overlapped: one started while the one before was still running. They have an outline below.<//>`}
    <${Card}><div class="tl"><div class="tl-row tl-axis"><div class="tl-name quiet">now ${clock(data.now)}</div>
      <div class="tl-track">${times.map((at, i) => (i % (times.length > 7 ? 2 : 1) === 0 && at - from > (to - from) / 30 ? html`<span style=${{ left: left(at) }}>${clock(at) === '00:00' ? day(at) : clock(at)}</span>` : ''))}</div></div>
      <${Load} rows=${rows} from=${from} to=${to} grid=${grid} />
      ${rows.map((row) => html`<${Lane} key=${row.schedule} row=${row} left=${left} from=${from} to=${to} grid=${grid} />`)}</div>
      <div class="legend card-body"><span><i class="fill-good"></i>succeeded</span><span><i class="fill-bad"></i>dead</span><span><i class="fill-info"></i>running</span><span><i class="fill-warn"></i>missed</span><span><i class="fill-quiet"></i>waiting, skipped or cancelled</span><span><i class="tl-coming"></i>coming</span><span><i class="tl-rest"></i>many coming</span><span><i class="tl-coming tl-marked"></i>moved by a clock change</span></div><${More} next=${next} load=${more} /><//>`;
}

/** The part of the range after the last instant that the server has computed, and the usual distance of instants. */
function restOf(row, to) {
  if (!row.more || row.coming.length < 20) return null;
  const first = Date.parse(row.coming[0].at);
  const last = Date.parse(row.coming[row.coming.length - 1].at);
  const distance = Math.max(1000, (last - first) / (row.coming.length - 1));
  return last + 2 * distance < to ? { from: last + distance, distance } : null;
}

/** How many instants fall into each part of the range, over all schedules shown. */
function Load({ rows, from, to, grid }) {
  const parts = 96;
  const counts = new Array(parts).fill(0);
  const add = (at, n = 1) => {
    const part = Math.floor((parts * (Date.parse(at) - from)) / (to - from));
    if (part >= 0 && part < parts) counts[part] += n;
  };
  for (const row of rows) {
    for (const entry of row.past) add(entry.from, entry.count);
    for (const entry of row.coming) add(entry.at);
    const rest = restOf(row, to);
    if (rest)
      for (let part = Math.max(0, Math.floor((parts * (rest.from - from)) / (to - from))); part < parts; part++)
        counts[part] += (to - from) / parts / rest.distance;
  }
  const most = Math.max(1, ...counts);
  return html`<div class="tl-row"><div class="tl-name"><strong>All together</strong><div class="quiet c-narrow">up to ${plural(Math.round(most), 'instant')} in ${span((to - from) / parts)}</div></div>
    <div class="tl-track tl-load">${grid}${counts.map((n, i) => (n > 0 ? html`<i title=${'about ' + plural(Math.round(n), 'instant')} style=${{ left: `${(100 * i) / parts}%`, width: `${90 / parts}%`, height: `${Math.max(4, (92 * n) / most)}%` }}></i>` : ''))}</div></div>`;
}

function Lane({ row, left, from, to, grid }) {
  const marked = overlaps(row.past);
  const width = (entry) => {
    const start = Date.parse(entry.startedAt || entry.from);
    const end = entry.endedAt
      ? Date.parse(entry.endedAt)
      : entry.state === 'running'
        ? serverNow()
        : Date.parse(entry.to);
    return `${Math.max(0, (100 * (Math.min(end, to) - start)) / (to - from))}%`;
  };
  const rest = restOf(row, to);
  return html`<div class="tl-row" data-row><div class="tl-name"><a class="main-link" href=${scheduleLink(row.schedule)}>${row.schedule}</a><div class="quiet cut c-narrow" title=${row.description}>${row.paused ? html`<${State} state="paused" />` : row.description}</div></div>
    <div class="tl-track">${grid}${row.past.map((entry) => {
      const title = `${entry.state}${entry.count > 1 ? ` × ${entry.count}` : ''}, planned ${absolute(entry.from)}${entry.reason ? ': ' + entry.reason : ''}`;
      const shape = {
        class: (FILLS[entry.state] || 'fill-quiet') + (marked.has(entry) ? ' tl-overlap' : ''),
        title,
        style: { left: left(entry.startedAt || entry.from), width: width(entry) },
      };
      return entry.run
        ? html`<a ...${shape} tabindex="-1" href=${runLink(entry.run)} aria-label=${title}></a>`
        : html`<i ...${shape}></i>`;
    })}${row.coming.map((entry) => html`<i class=${'tl-coming' + (entry.mark !== 'none' ? ' tl-marked' : '')} title=${`coming ${absolute(entry.at)}${entry.mark !== 'none' ? ' (' + entry.mark + ')' : ''}`} style=${{ left: left(entry.at) }}></i>`)}${rest && html`<i class="tl-rest" title="further instants, not shown one by one" style=${{ left: left(rest.from), width: `${(100 * (to - rest.from)) / (to - from)}%` }}></i>`}</div></div>`;
}
