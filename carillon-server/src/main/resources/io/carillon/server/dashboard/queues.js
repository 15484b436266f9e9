// Queues: how much waits, limits, weight, breaker, pause.
import { enc, get, inApplication, post, put } from './api.js';
import { count, plural } from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Card,
  Command,
  confirmAction,
  Empty,
  ErrorBox,
  Facts,
  Head,
  Notice,
  Skeleton,
  State,
  Time,
  toast,
} from './parts.js';
import { Chart, columns, useStats } from './charts.js';
import { qualifier, queueLink, runsLink } from './router.js';
import { classes, html } from './ui.js';

export function QueuesPage({ query }) {
  const chosen = query.get('name') || '';
  const queues = useLoad('queues', () => get('v1/queues'), { kinds: ['run', 'queue', 'bulk'], every: 5000, rest: 2000 });
  const items = queues.data ? queues.data.items : [];
  const queue = items.find((one) => one.name === chosen);
  const incomplete = items.some((one) => one.more);
  return html`<${Head} title="Queues" /><div class="stack"><${ErrorBox} error=${queues.error} retry=${queues.reload} />
    ${chosen && queues.data && !queue && html`<${Notice} tone="quiet" icon="queues">The queue ${chosen} has no runs and no settings now. <a href=${runsLink(qualifier('queue', chosen))}>Ended runs of it</a><//>`}
    ${queue && html`<${Detail} key=${queue.name} queue=${queue} reload=${queues.reload} />`}
    ${
      !queues.data
        ? !queues.error && html`<${Card}><${Skeleton} /><//>`
        : items.length === 0
          ? html`<${Card}><${Empty} icon="queues" title="No queues yet"><p>A queue exists while it has runs or settings. Enqueue a run, or set a limit:</p>
            <${Command} text=${inApplication ? 'carillon.queues().limit("mail", QueueLimits.maxRunning(10));' : 'carillon queue limit mail --max-running 10'} /><//><//>`
          : html`<${Card}><div class="table-wrap">
            <table>
            <thead><tr>
            <th>Queue</th>
            <th>State</th>
            <th class="right">Waiting</th>
            <th class="right">Running</th>
            <th class="c-narrow">Oldest due</th>
            <th class="right c-mid">At most running</th>
            <th class="right c-mid">Starts per second</th>
            <th class="right c-mid">Weight</th></tr>
            </thead>
        <tbody>${items.map((one) => html`<tr data-row class=${classes(one.name === chosen && 'current')}><td><a class="main-link" href=${queueLink(one.name)}>${one.name}</a></td>
          <td><${QueueState} queue=${one} /></td>
          <td class="num-col"><a href=${runsLink('state:waiting ' + qualifier('queue', one.name))}>${count(one.waiting, one.more)}</a></td>
          <td class="num-col"><a href=${runsLink('state:running ' + qualifier('queue', one.name))}>${count(one.running)}</a></td>
          <td class="nowrap c-narrow"><${Time} at=${one.waitingSince} /></td>
          <td class="num-col c-mid">${one.maxRunning ?? html`<span class="quiet">no limit</span>`}</td>
          <td class="num-col c-mid">${one.perSecond ?? html`<span class="quiet">no limit</span>`}</td>
          <td class="num-col c-mid">${one.weight}</td></tr>`)}</tbody></table></div>
        ${incomplete && html`<div class="note">Counts stop at 10,000 runs of all queues together; a + marks counts that may be higher.</div>`}<//>`
    }</div>`;
}

function QueueState({ queue }) {
  const breaker =
    queue.breaker && queue.breaker.state !== 'closed'
      ? html` <${State} state=${queue.breaker.state} text=${'Breaker ' + queue.breaker.state} />`
      : '';
  return html`${queue.paused ? html`<${State} state="paused" note=${queue.paused.reason} />` : html`<${State} state="active" text="Open" />`}${breaker}`;
}

function Detail({ queue, reload }) {
  const path = 'v1/queues/' + enc(queue.name);
  const stats = useStats('1h', { queue: queue.name });
  const resume = () =>
    act(async () => {
      await post(path + '/resume', {});
      reload();
    }, 'Resumed.');
  const pause = () =>
    confirmAction({
      title: 'Pause the queue ' + queue.name + '?',
      confirm: 'Pause',
      text: `No further run of it starts. Its ${plural(queue.running, 'running run')} continue${queue.running === 1 ? 's' : ''}.`,
      fields: [{ name: 'reason', label: 'Reason (optional)' }],
      run: async ({ reason }) => {
        await post(path + '/pause', reason ? { reason } : {});
        reload();
        toast('Paused.', 'good', { name: 'Undo', run: resume });
      },
    });
  const limits = () =>
    confirmAction({
      title: 'Limits of ' + queue.name,
      confirm: 'Save',
      text: 'Empty fields are no limit. The limits hold for all nodes together.',
      fields: [
        {
          name: 'maxRunning',
          label: 'At most running at the same time',
          type: 'number',
          value: queue.maxRunning ?? '',
        },
        { name: 'perSecond', label: 'Starts per second', value: queue.perSecond ?? '' },
      ],
      run: async (values) => {
        const chosen = {
          maxRunning: values.maxRunning ?? queue.maxRunning ?? '',
          perSecond: values.perSecond ?? queue.perSecond ?? '',
        };
        await put(
          path + '/limits',
          Object.fromEntries(
            Object.entries(chosen)
              .filter(([, value]) => value !== '')
              .map(([name, value]) => [name, Number(value)]),
          ),
        );
        reload();
        toast('Saved.');
      },
    });
  const weight = () =>
    confirmAction({
      title: 'Weight of ' + queue.name,
      confirm: 'Save',
      text: 'The share of started runs relative to other queues, if several have waiting runs.',
      fields: [{ name: 'weight', label: 'Weight, 1 to 100', type: 'number', value: queue.weight }],
      run: async (values) => {
        await put(path + '/weight', { weight: Number(values.weight ?? queue.weight) });
        reload();
        toast('Saved.');
      },
    });
  const breaker = () =>
    confirmAction({
      title: queue.breaker ? 'Remove the breaker of ' + queue.name + '?' : 'Add a breaker to ' + queue.name + '?',
      confirm: queue.breaker ? 'Remove' : 'Add',
      text: 'A breaker holds a queue back while most of its attempts fail.',
      run: async () => {
        await put(path + '/breaker', { enabled: !queue.breaker });
        reload();
        toast('Saved.');
      },
    });
  const points = stats.data && stats.data.points;
  return html`<${Card} title=${queue.name} actions=${html`<div class="actions">${queue.paused ? html`<${ActionButton} tone="main" icon="runs" onClick=${resume}>Resume<//>` : html`<${ActionButton} icon="paused" onClick=${pause}>Pause<//>`}<${ActionButton} icon="settings" onClick=${limits}>Limits<//>
    <${ActionButton} onClick=${weight}>Weight<//>
    <${ActionButton} onClick=${breaker}>Breaker<//><a class="button" href="#/queues">Close</a></div>`}>
    ${queue.paused && html`<div class="card-body"><${Notice} icon="paused">Paused <${Time} at=${queue.paused.at} />${queue.paused.by ? ' by ' + queue.paused.by : ''}. ${queue.paused.reason || ''}<//></div>`}
    <${Facts} items=${[
      ['State', html`<${QueueState} queue=${queue} />`],
      [
        'Waiting',
        html`<a href=${runsLink('state:waiting ' + qualifier('queue', queue.name))}>${count(queue.waiting, queue.more)}</a>`,
      ],
      [
        'Running',
        html`<a href=${runsLink('state:running ' + qualifier('queue', queue.name))}>${count(queue.running)}</a>`,
      ],
      ['Oldest due', queue.waitingSince && html`<${Time} at=${queue.waitingSince} />`],
      ['At most running', queue.maxRunning ?? 'no limit'],
      ['Starts per second', queue.perSecond ?? 'no limit'],
      ['Weight', queue.weight],
      [
        'Breaker',
        queue.breaker
          ? html`${queue.breaker.state}${queue.breaker.until ? html` until <${Time} at=${queue.breaker.until} />` : ''}`
          : 'none',
      ],
    ]} />
    ${
      points &&
      html`<${Chart} bars height=${130} label=${'Ended runs of the queue in the last hour'} data=${columns(points, [(point) => point.ended, (point) => point.dead])} series=${[
        { name: 'ended in the last hour', color: '--accent', fill: 'fill-accent' },
        { name: 'dead', color: '--fill-bad', fill: 'fill-bad' },
      ]} />`
    }<//>`;
}
