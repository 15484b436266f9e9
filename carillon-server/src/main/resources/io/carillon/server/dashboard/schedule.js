// One schedule: what it does next, what became of each instant, and actions.
import { call, enc, get, post } from './api.js';
import {
  absolute,
  brief,
  firstLine,
  isoSpan,
  localZone,
  millis,
  plural,
  pretty,
  span,
  targetKind,
  targetName,
  zoneName,
} from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Card,
  Code,
  confirmAction,
  Empty,
  ErrorBox,
  Facts,
  Head,
  Instant,
  Notice,
  Skeleton,
  State,
  Time,
  toast,
} from './parts.js';
import { go, link, qualifier, queueLink, runLink, runsLink, setQuery } from './router.js';
import { isFailing, stateOf } from './schedules.js';
import { html } from './ui.js';

const RANGES = { '24h': ['24 hours', 86400e3], '7d': ['7 days', 7 * 86400e3], '30d': ['30 days', 30 * 86400e3] };

export function SchedulePage({ name, query }) {
  const path = 'v1/schedules/' + enc(name);
  const schedule = useLoad('schedule ' + name, () => get(path, {}, { exact: true }), {
    kinds: ['schedule', 'run'],
    every: 10000,
  });
  const value = schedule.data;
  if (!value)
    return html`<${Head} title=${name} />${schedule.error ? html`<${ErrorBox} error=${schedule.error} retry=${schedule.reload} />` : html`<${Card}><${Skeleton} rows=${10} /><//>`}`;
  const [state, text] = stateOf(value);
  return html`<${Head} name=${name} title=${html`${name} <${State} state=${state} text=${text} />`} sub=${value.description}><${Actions} schedule=${value} path=${path} reload=${schedule.reload} /><//>
    <div class="stack">${value.paused && html`<${Notice} icon="paused"><strong>Paused <${Time} at=${value.paused.at} />${value.paused.by ? ' by ' + value.paused.by : ''}.</strong>${value.paused.reason && html`<div>${value.paused.reason}</div>`}<div>${value.paused.until ? html`It resumes <${Time} at=${value.paused.until} both />.` : 'It stays paused until it is resumed.'}</div>
      <//>`}
      ${value.unreadable && html`<${Notice} tone="bad"><strong>This server cannot read the timing of the schedule.</strong><div>${value.unreadable.error}</div>
        <//>`}
      ${isFailing(value) && html`<${Notice} tone="bad"><strong>The last run is ${value.lastRun.state}.</strong><div>${value.lastRun.run && html`<a href=${runLink(value.lastRun.run)}>Open the run</a> to see why.`}</div>
        <//>`}
      <div class="two"><div class="stack"><${Ledger} path=${path} name=${name} query=${query} /></div>
        <div class="stack"><${Upcoming} schedule=${value} /><${Card} title="Facts"><${ScheduleFacts} schedule=${value} /><//>
        ${value.payload !== undefined && value.payload !== null && html`<${Card} title="Payload"><div class="card-body"><${Code} text=${pretty(value.payload)} label="Payload" /></div>
          <//>`}</div></div></div>`;
}

function Actions({ schedule, path, reload }) {
  const { name } = schedule;
  const resume = () =>
    act(async () => {
      await post(path + '/resume', {});
      reload();
    }, 'Resumed.');
  const pause = () =>
    confirmAction({
      title: 'Pause ' + name + '?',
      confirm: 'Pause',
      text: 'No further run starts. Instants while it is paused are recorded as skipped.',
      fields: [
        {
          name: 'reason',
          label: 'Reason (optional)',
          help: 'Everyone who looks at the schedule sees it, with your key.',
        },
        {
          name: 'until',
          label: 'Until (optional)',
          type: 'datetime-local',
          help: 'In your time zone, ' + localZone + '. Empty: until it is resumed.',
        },
      ],
      run: async ({ reason, until }) => {
        await post(path + '/pause', {
          ...(reason && { reason }),
          ...(until && { until: new Date(until).toISOString() }),
        });
        reload();
        toast('Paused.', 'good', { name: 'Undo', run: resume });
      },
    });
  const trigger = () =>
    confirmAction({
      title: 'Start one run of ' + name + ' now?',
      confirm: 'Start run',
      text: 'It is a run without a planned instant; the timing does not change.',
      run: async () => {
        const made = await post(path + '/trigger', {});
        toast('The run was created.', 'good', { name: 'Open', run: () => go('/runs/' + made.run) });
        reload();
      },
    });
  const drop = () =>
    confirmAction({
      title: 'Delete ' + name + '?',
      tone: 'bad',
      confirm: 'Delete schedule',
      typed: name,
      text: 'The schedule, its waiting ticks and its ledger go. Ended runs stay in the list of runs. This cannot be undone.',
      run: async () => {
        await call('DELETE', path, { headers: schedule.etag ? { 'If-Match': schedule.etag } : {} });
        toast('Deleted.');
        go('/schedules');
      },
    });
  return html`<a class="button" href=${runsLink(qualifier('schedule', name))}>Runs</a>
    ${schedule.paused ? html`<${ActionButton} icon="runs" tone="main" onClick=${resume}>Resume<//>` : html`<${ActionButton} icon="paused" onClick=${pause}>Pause<//>`}
    <${ActionButton} icon="runs" onClick=${trigger}>Run now<//>
      <${ActionButton} icon="timeline" onClick=${() => backfill(schedule, path)}>Backfill<//>
    <${ActionButton} icon="edit" onClick=${() => go(link(['schedules', name, 'edit']).slice(1))}>Edit<//>
      <${ActionButton} icon="close" tone="bad" onClick=${drop}>Delete<//>`;
}

/** First counts, then asks with the count. */
function backfill({ name }, path) {
  const local = (ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  confirmAction({
    title: 'Backfill ' + name,
    confirm: 'Count runs',
    text: 'Creates a run for each past instant that has no ledger entry. Nothing is created before you have seen the count.',
    fields: [
      { name: 'from', label: 'From', type: 'datetime-local', value: local(Date.now() - 86400e3), required: true },
      {
        name: 'to',
        label: 'To',
        type: 'datetime-local',
        value: local(Date.now()),
        required: true,
        help: 'In your time zone, ' + localZone + '.',
      },
    ],
    run: async (values) => {
      const range = {
        from: new Date(values.from || local(Date.now() - 86400e3)).toISOString(),
        to: new Date(values.to || local(Date.now())).toISOString(),
      };
      const counted = await post(path + '/backfill', { ...range, dryRun: true });
      setTimeout(() =>
        counted.runs === 0
          ? toast('Every instant of this range has a ledger entry. There is nothing to backfill.')
          : confirmAction({
              title: `Create ${plural(counted.runs, 'run')}?`,
              confirm: `Create ${plural(counted.runs, 'run')}`,
              typed: counted.runs >= 1000 ? String(counted.runs) : undefined,
              text: `For instants from ${absolute(range.from)} to ${absolute(range.to)}.`,
              run: async () => {
                const made = await post(path + '/backfill', { ...range, dryRun: false });
                toast(plural(made.runs, 'run') + ' created.');
              },
            }),
      );
    },
  });
}

/** The next ten instants, in the zone of the schedule and in the zone of the viewer. */
export function InstantList({ entries, zone }) {
  const mine = zoneName();
  const marks = {
    moved: 'moved: this local time does not exist',
    dropped: 'skipped: this local time does not exist',
    doubled: 'this local time occurs twice',
  };
  return html`<ul class="preview-list">${entries.map((entry) => html`<li><span class="nowrap">${absolute(entry.at, zone, { weekday: true })}</span><span class="quiet"><${Time} at=${entry.at} /></span>${mine !== zone && html`<span class="quiet nowrap">${absolute(entry.at, mine, { weekday: true })}</span>`}${marks[entry.mark] && html`<span><${State} state="missed" text=${marks[entry.mark]} /></span>`}</li>`)}</ul>`;
}

function Upcoming({ schedule }) {
  const preview = useLoad(
    'upcoming ' + schedule.name + schedule.version + (schedule.nextRuns && schedule.nextRuns[0]),
    () => (schedule.unreadable ? { entries: [] } : post('v1/schedules:preview', { when: schedule.when, count: 10 })),
  );
  return html`<${Card} title=${schedule.paused ? 'Next instants, if it were not paused' : 'Next ten instants'}>${preview.error ? html`<${ErrorBox} error=${preview.error} />` : !preview.data ? html`<${Skeleton} rows=${6} />` : preview.data.entries.length === 0 ? html`<div class="note">There is no further instant.</div>` : html`<${InstantList} entries=${preview.data.entries} zone=${preview.data.zone} />`}
    ${preview.data && preview.data.warnings && html`<div class="note">${preview.data.warnings.map((warning) => html`<div>${warning}</div>`)}</div>`}<//>`;
}

function Ledger({ path, name, query }) {
  const range = RANGES[query.get('range')] ? query.get('range') : '24h';
  const only = query.get('show') === 'problems';
  const ledger = useLoad(
    'ledger ' + name + range,
    () =>
      get(path + '/ledger', {
        from: new Date(Date.now() - RANGES[range][1]).toISOString(),
        to: new Date().toISOString(),
      }),
    { kinds: ['run', 'schedule'], every: 15000 },
  );
  const all = ledger.data ? [...ledger.data.items].reverse() : [];
  const items = only ? all.filter((entry) => !['succeeded', 'running', 'waiting'].includes(entry.state)) : all;
  const actions = html`<div class="row"><div class="segmented" role="group" aria-label="Range">${Object.entries(RANGES).map(([key, [text]]) => html`<button type="button" aria-pressed=${key === range ? 'true' : 'false'} onClick=${() => setQuery({ range: key })}>${text}</button>`)}</div><button type="button" class="button" aria-pressed=${only ? 'true' : 'false'} onClick=${() => setQuery({ show: only ? '' : 'problems' })}>${only ? 'Show all' : 'Only problems'}</button></div>`;
  return html`<${Card} title="Ledger: what became of each instant" actions=${actions}>${
    ledger.error
      ? html`<${ErrorBox} error=${ledger.error} retry=${ledger.reload} />`
      : !ledger.data
        ? html`<${Skeleton} rows=${8} />`
        : items.length === 0
          ? html`<${Empty} icon="timeline" title=${only ? 'No problem in this range' : 'No instant in this range'}>${only ? 'Every planned instant became a run.' : 'The schedule had no planned instant. Choose a longer range.'}<//>`
          : html`<div class="table-wrap">
            <table>
            <thead><tr>
            <th>Planned</th>
            <th>State</th>
            <th class="right c-narrow">Late</th>
            <th class="right c-narrow">Took</th>
            <th>Why, or the run</th></tr>
            </thead>
            <tbody>${items.slice(0, 500).map((entry) => html`<${LedgerRow} entry=${entry} />`)}</tbody></table></div>${items.length > 500 && html`<div class="note">The newest 500 of ${items.length}.</div>`}`
  }<//>`;
}

function LedgerRow({ entry }) {
  return html`<tr data-row><td><${Instant} at=${entry.from} />${entry.count > 1 && html`<div class="under">${plural(entry.count, 'instant')} until <${Instant} at=${entry.to} /></div>`}</td>
    <td><${State} state=${entry.state} /></td>
    <td class="num-col c-narrow">${entry.late ? isoSpan(entry.late) : ''}</td>
    <td class="num-col c-narrow">${entry.startedAt && entry.endedAt ? span(Date.parse(entry.endedAt) - Date.parse(entry.startedAt)) : ''}</td>
    <td class="wide-cell"><div class="cut" title=${firstLine(entry.reason)}>${entry.run ? html`<a class="main-link" href=${runLink(entry.run)}>${brief(entry.reason) || html`<code>${entry.run}</code>`}</a>` : brief(entry.reason) || '–'}</div></td></tr>`;
}

function ScheduleFacts({ schedule }) {
  const when = schedule.when;
  const kind = targetKind(schedule.target);
  return html`<${Facts} items=${[
    [
      { handler: 'Handler', endpoint: 'Endpoint', event: 'Event', url: 'URL' }[kind],
      kind === 'endpoint'
        ? html`<a href=${link(['endpoints', schedule.target.endpoint])}>${schedule.target.endpoint}</a>`
        : kind === 'event'
          ? html`<a href=${link('events', { topic: schedule.target.event.topic })}>${targetName(schedule.target)}</a>`
          : targetName(schedule.target),
    ],
    ['Cron', when.cron && html`<code>${when.cron}</code>`],
    ['Zone', when.zone],
    ['From', when.from && html`<${Instant} at=${when.from} />`],
    ['Until', when.until && html`<${Instant} at=${when.until} />`],
    ['Except', when.except && when.except.join(', ')],
    ['At most', when.maxRuns && plural(when.maxRuns, 'run')],
    ['Jitter', when.jitter && isoSpan(when.jitter)],
    ['Queue', html`<a href=${queueLink(schedule.queue)}>${schedule.queue}</a>`],
    ['Priority', schedule.priority],
    ['Attempts', schedule.retry && schedule.retry.attempts],
    ['Timeout', schedule.timeout && span(millis(schedule.timeout))],
    ['Missed instants', schedule.missed],
    ['Overlap', schedule.overlap],
    ['Grace', isoSpan(schedule.grace)],
    ['Catch up', isoSpan(schedule.catchUp)],
    ['Pause after', schedule.pauseAfter && plural(schedule.pauseAfter, 'failure')],
    [
      'Last run',
      schedule.lastRun &&
        (schedule.lastRun.run
          ? html`<a href=${runLink(schedule.lastRun.run)}><${State} state=${schedule.lastRun.state} /></a>`
          : html`<${State} state=${schedule.lastRun.state} />`),
    ],
    ['Ticks', schedule.ticks],
    ['Version', schedule.version],
    ['Created', html`<${Instant} at=${schedule.createdAt} />`],
    ['Changed', html`<${Instant} at=${schedule.updatedAt} />`],
  ]} />`;
}
