// Home: whether all is well, and where to look if not.
import { get, inApplication, seesServer } from './api.js';
import { Chart, columns, RANGES, useStats } from './charts.js';
import { brief, count, errorOf, firstLine, friendly, plural, relative, runTarget } from './format.js';
import { Icon } from './icons.js';
import { SHARED, useLoad } from './load.js';
import { Card, Command, Empty, ErrorBox, Head, Skeleton, State, Time } from './parts.js';
import { queueLink, runLink, runsLink, scheduleLink } from './router.js';
import { html, saveSetting, setting, useState } from './ui.js';

export function HomePage() {
  const [range, setRange] = useState(RANGES[setting('range', '1h')] ? setting('range', '1h') : '1h');
  const stats = useStats(range);
  const queues = useLoad('queues', (how) => get('v1/queues', {}, how), {
    kinds: ['run', 'queue'],
    every: 10000,
    ...SHARED,
  });
  const schedules = useLoad('home schedules', (how) => get('v1/schedules', { limit: 200 }, how), {
    kinds: ['schedule', 'run'],
    every: 15000,
    ...SHARED,
  });
  const choose = (next) => {
    saveSetting('range', next);
    setRange(next);
  };
  if (
    schedules.data &&
    stats.data &&
    schedules.data.items.length === 0 &&
    !stats.data.waiting &&
    !stats.data.running &&
    !stats.data.dead &&
    queues.data &&
    queues.data.items.length === 0
  )
    return html`<${Welcome} />`;
  return html`<${Head} title="Home"><div class="segmented" role="group" aria-label="Range of the charts">${Object.entries(RANGES).map(([key, [name]]) => html`<button type="button" aria-pressed=${key === range ? 'true' : 'false'} onClick=${() => choose(key)}>${name}</button>`)}</div>
    <//>
    <div class="stack"><${HealthCard} />
      <${ErrorBox} error=${!stats.data && stats.error} retry=${stats.reload} />
      <${Tiles} stats=${stats.data} range=${range} />
      <${Charts} stats=${stats.data} />
      <div class="grid"><${FailingSchedules} list=${schedules.data} /><${RecentFailures} /><${OldestWaiting} queues=${queues.data} />${seesServer() && html`<${NodesCard} />`}</div></div>`;
}

function Welcome() {
  return html`<${Head} title="Welcome to Carillon" /><div class="stack">
    <${HealthCard} /><${Card}>${inApplication ? html`<${FirstStepsInCode} />` : html`<${FirstSteps} />`}<//></div>`;
}

function FirstStepsInCode() {
  return html`<${Empty} icon="schedules" title="Nothing is scheduled yet"><p>Declare a schedule in the code of the application:</p>
    <${Command} text=${'.schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))'} /><p>Or enqueue a single run:</p><${Command} text=${'carillon.enqueue(REPORT, new Report("eu"));'} /><//>`;
}

function FirstSteps() {
  return html`<${Empty} icon="schedules" title="Nothing is scheduled yet"><p>Create a schedule in one of three ways:</p>
    <div class="row"><a class="button button-main" href="#/schedules/new"><${Icon} name="plus" />New schedule</a></div>
    <${Command} text="carillon schedule create hello --every 10s --handler demo.hello" />
    <${Command} text=${`curl -X PUT ${location.origin}${location.pathname.replace(/\/ui\/?$/, '')}/v1/schedules/hello -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"when":{"every":{"amount":10,"unit":"seconds"}},"target":{"handler":"demo.hello"}}'`} />
    <p>Or enqueue a single run:</p><${Command} text="carillon run enqueue --handler demo.hello" /><//>`;
}

const KIND_LINKS = {
  'runs-overdue': runsLink('state:waiting'),
  'runs-stalled': runsLink('state:running'),
  'instants-missed': '#/timeline',
  'schedule-missing-instants': '#/schedules',
  'no-live-node': '#/nodes',
  'node-heartbeat-lost': '#/nodes',
  'breaker-open': '#/queues',
  'handler-unknown': runsLink('state:waiting'),
  'schedule-unreadable': '#/schedules',
};

function HealthCard() {
  const admin = seesServer();
  const health = useLoad('health', (how) => (admin ? get('v1/health', {}, how) : null), { every: 10000, ...SHARED });
  if (!admin) return null;
  if (health.error) return html`<${ErrorBox} error=${health.error} retry=${health.reload} />`;
  if (!health.data) return html`<${Card}><div class="health"><${State} state="waiting" text="Checking…" /></div><//>`;
  const { healthy, issues, kinds } = health.data;
  if (healthy)
    return html`<${Card}><div class="health"><${State} state="succeeded" text="Healthy" /><div>No issue was found in the database, the nodes, the schedules and the queues.</div></div>
      <//>`;
  const links = [...new Set(kinds.map((kind) => KIND_LINKS[kind]).filter(Boolean))];
  return html`<${Card}><div class="health"><${State} state="dead" text=${plural(issues.length, 'issue')} /><ul>${issues.map((issue) => html`<li>${friendly(issue)}</li>`)}${links.length > 0 && html`<li>Look at ${links.map((href, i) => html`${i > 0 && ', '}<a href=${href}>${href.startsWith('#/runs') ? 'the runs' : href.slice(2)}</a>`)}.</li>`}</ul></div>
    <//>`;
}

function Tile({ name, value, extra, href, icon, bad }) {
  return html`<a class=${'tile' + (bad ? ' tile-bad' : '')} href=${href}><span class="name"><${Icon} name=${icon} size=${14} />${name}</span><span class="value">${value}</span><span class="extra">${extra}</span></a>`;
}

function Tiles({ stats, range }) {
  const total = stats && stats.total;
  const ago = { '1h': '1h', '6h': '6h', '24h': '24h', '7d': '7d' }[range];
  const late = total && total.latenessMillis;
  return html`<div class="tiles">
    <${Tile} name="Waiting" icon="waiting" value=${count(stats?.waiting, stats?.more)} href=${runsLink('state:waiting')} extra="now" />
    <${Tile} name="Running" icon="running" value=${count(stats?.running)} href=${runsLink('state:running')} extra="now" />
    <${Tile} name="Succeeded" icon="succeeded" value=${count(total?.succeeded)} href=${runsLink('state:succeeded since:' + ago)} extra=${total ? perSecond(total.perSecond) : ''} />
    <${Tile} name="Failed" icon="dead" value=${count(total ? total.dead + total.quarantined : undefined)} bad=${total && total.dead + total.quarantined > 0} href=${runsLink('state:dead since:' + ago)} extra=${total && total.failureRate !== undefined ? percent(total.failureRate) + ' of ended runs' : ''} />
    <${Tile} name="Dead letters" icon="quarantined" value=${count(stats ? stats.dead + stats.quarantined : undefined)} bad=${stats && stats.dead + stats.quarantined > 0} href="#/dead" extra="kept until redriven" />
    <${Tile} name="Lateness" icon="missed" value=${late ? shortMillis(late.p95) : '–'} href="#/timeline" extra=${late ? '95 % of ticks' : 'no tick started'} /></div>`;
}

const perSecond = (value) =>
  value >= 10
    ? Math.round(value) + ' per second'
    : value >= 0.1
      ? value.toFixed(1) + ' per second'
      : (value * 60).toFixed(1) + ' per minute';
const percent = (value) => (value * 100).toFixed(value < 0.1 ? 1 : 0) + ' %';
const shortMillis = (ms) =>
  ms < 1000 ? Math.round(ms) + ' ms' : ms < 60000 ? (ms / 1000).toFixed(1) + ' s' : Math.round(ms / 60000) + ' min';

function Charts({ stats }) {
  const points = stats && stats.points;
  if (stats && !points) return null;
  if (!points)
    return html`<div class="grid charts">${['Ended runs', 'Failures', 'Lateness and waiting'].map((title) => html`<${Card} title=${title}><div class="chart chart-empty"></div>
      <div class="legend">Loading…</div>
      <//>`)}</div>`;
  const failed = (point) => point.dead + point.quarantined;
  const total = stats.total || {};
  return html`<div class="grid charts">
    <${Card} title="Ended runs"><${Chart} bars label="Ended runs over time" summary=${`${total.ended} ended`} data=${columns(points, [(point) => point.ended])} series=${[{ name: 'ended', color: '--accent', fill: 'fill-accent' }]} /><//>
    <${Card} title="Failures"><${Chart} bars label="Failures over time" summary=${`${failed(total)} dead or quarantined, ${total.retried} retried`} data=${columns(points, [(point) => failed(point) + point.retried, failed])} series=${[
      { name: 'failed attempts, retried', color: '--fill-warn', fill: 'fill-warn' },
      { name: 'dead', color: '--fill-bad', fill: 'fill-bad' },
    ]} /><//>
    <${Card} title="Lateness and waiting (95 %)"><${Chart} unit="ms" label="Lateness of ticks and waiting time of runs, 95th percentile" summary="" data=${columns(points, [(point) => point.latenessMillis?.p95, (point) => point.waitMillis?.p95])} series=${[
      { name: 'ticks late by', color: '--fill-odd', fill: 'fill-odd' },
      { name: 'runs wait', color: '--fill-info', fill: 'fill-info' },
    ]} /><//></div>`;
}

function FailingSchedules({ list }) {
  const failing = list
    ? list.items.filter(
        (one) => one.unreadable || (one.lastRun && ['dead', 'quarantined', 'missed'].includes(one.lastRun.state)),
      )
    : [];
  return html`<${Card} title="Failing schedules" actions=${html`<a href="#/schedules">All schedules</a>`}>${
    !list
      ? html`<${Skeleton} rows=${3} />`
      : failing.length === 0
        ? html`<div class="note">The last run of every schedule${list.next ? ' among the first 200' : ''} was no failure.</div>`
        : html`<div class="table-wrap">
          <table>
          <tbody>${failing.slice(0, 8).map((one) => html`<tr data-row><td><a class="main-link" href=${scheduleLink(one.name)}>${one.name}</a><div class="under">${one.description}</div></td>
          <td>${one.unreadable ? html`<${State} state="missed" text="Unreadable" />` : html`<a href=${one.lastRun.run ? runLink(one.lastRun.run) : scheduleLink(one.name)}><${State} state=${one.lastRun.state} /></a>`}</td>
          <td class="right"><${Time} at=${one.lastRun && (one.lastRun.endedAt || one.lastRun.plannedAt)} /></td></tr>`)}</tbody></table></div>`
  }<//>`;
}

function RecentFailures() {
  const dead = useLoad('home dead', (how) => get('v1/runs', { state: 'dead', limit: 8 }, how), {
    kinds: ['run', 'bulk'],
    every: 20000,
    ...SHARED,
  });
  return html`<${Card} title="Newest dead runs" actions=${html`<a href="#/dead">Grouped by error</a>`}>${
    !dead.data
      ? html`<${Skeleton} rows=${3} />`
      : dead.data.items.length === 0
        ? html`<div class="note">No run is dead.</div>`
        : html`<div class="table-wrap">
          <table>
          <tbody>${dead.data.items.map((run) => html`<tr data-row><td class="nowrap"><a class="main-link" href=${runLink(run.id)}>${runTarget(run)}</a></td>
          <td class="wide-cell"><div class="cut quiet" title=${firstLine(errorOf(run))}>${brief(errorOf(run))}</div></td>
          <td class="right"><${Time} at=${run.endedAt} /></td></tr>`)}</tbody></table></div>`
  }<//>`;
}

function OldestWaiting({ queues }) {
  const since = (queue) => queue.waitingSince || '~';
  const items = queues
    ? queues.items
        .filter((queue) => queue.waiting > 0 || queue.paused || (queue.breaker && queue.breaker.state !== 'closed'))
        .sort((a, b) => (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : b.waiting - a.waiting))
    : [];
  return html`<${Card} title="Longest waiting" actions=${html`<a href="#/queues">All queues</a>`}>${
    !queues
      ? html`<${Skeleton} rows=${3} />`
      : items.length === 0
        ? html`<div class="note">No run waits in a queue.</div>`
        : html`<div class="table-wrap">
          <table>
          <tbody>${items.slice(0, 8).map((queue) => html`<tr data-row><td><a class="main-link" href=${queueLink(queue.name)}>${queue.name}</a> ${queue.paused && html`<${State} state="paused" />`} ${queue.breaker && queue.breaker.state !== 'closed' && html`<${State} state=${queue.breaker.state} text=${'Breaker ' + queue.breaker.state} />`}</td>
          <td class="nowrap">${queue.waitingSince ? html`due <${Time} at=${queue.waitingSince} />` : html`<span class="quiet">none due</span>`}</td>
          <td class="num-col"><a href=${runsLink('state:waiting queue:' + queue.name)}>${count(queue.waiting, queue.more)} waiting</a></td></tr>`)}</tbody></table></div>`
  }<//>`;
}

function NodesCard() {
  const nodes = useLoad('nodes', (how) => get('v1/nodes', {}, how), { every: 10000, ...SHARED });
  return html`<${Card} title="Nodes" actions=${html`<a href="#/nodes">All nodes</a>`}>${
    !nodes.data
      ? html`<${Skeleton} rows=${2} />`
      : nodes.data.items.length === 0
        ? html`<div class="note">No node is known. Start one with <code>carillon serve</code>, or with the library.</div>`
        : html`<div class="table-wrap">
          <table>
          <tbody>${nodes.data.items.slice(0, 6).map((node) => html`<tr data-row><td><a class="main-link" href="#/nodes">${node.name || node.id}</a></td>
          <td><${State} state=${node.alive ? 'succeeded' : 'dead'} text=${node.alive ? 'Alive' : 'Dead'} /></td>
          <td class="num-col">${node.busy} of ${node.slots} busy</td>
          <td class="right nowrap c-narrow">${node.beatAt ? 'heartbeat ' + relative(node.beatAt) : ''}</td></tr>`)}</tbody></table></div>`
  }<//>`;
}
