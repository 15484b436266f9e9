// One run: its life, attempts, error, payload, what happens next, and actions.
import { call, enc, get, parseExact, post, serverNow } from './api.js';
import {
  between,
  count,
  errorOf,
  firstLine,
  friendly,
  isoSpan,
  millis,
  pretty,
  span,
  targetKind,
  targetName,
} from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Card,
  Code,
  confirmAction,
  ErrorBox,
  Facts,
  Field,
  Head,
  Id,
  Instant,
  Notice,
  openDialog,
  Button,
  Skeleton,
  State,
  Time,
  toast,
} from './parts.js';
import { go, link, qualifier, queueLink, runLink, runsLink, scheduleLink } from './router.js';
import { sendSignal, Steps } from './steps.js';
import { html, setting, useEffect, useState } from './ui.js';

export function RunPage({ id }) {
  const run = useLoad('run ' + id, () => get('v1/runs/' + enc(id), {}, { exact: true }), {
    kinds: ['run', 'bulk'],
    every: 5000,
    filter: (event) => event.kind !== 'run' || !event.id || event.id === id,
  });
  const version = run.data ? run.data.state + run.data.attempt : '';
  const attempts = useLoad('attempts ' + id + version, () => get('v1/runs/' + enc(id) + '/attempts'));
  const explain = useLoad('explain ' + id + version, () => get('v1/runs/' + enc(id) + '/explain'), { every: 5000 });
  if (run.error && !run.data)
    return html`<${Head} title="Run" sub=${html`<code>${id}</code>`} /><${ErrorBox} error=${run.error} retry=${run.reload} />`;
  if (!run.data)
    return html`<${Head} title="Run" sub=${html`<code>${id}</code>`} /><${Card}><${Skeleton} rows=${10} /><//>`;
  const value = run.data;
  return html`<${Head} title=${targetName(value.target) || 'Run'} sub=${html`<${Id} value=${value.id} />`}><${Neighbours} id=${id} /><${Actions} run=${value} signal=${explain.data && explain.data.signal} reload=${run.reload} /><//>
    <div class="stack"><${Next} run=${value} explain=${explain.data} />
      <${Card} title="Life of the run"><${Life} run=${value} attempts=${attempts.data ? attempts.data.items : []} /><//>
      <div class="two"><div class="stack"><${Steps} key=${id} run=${value} />
          <${Card} title="Attempts"><${Attempts} run=${value} attempts=${attempts} /><//>
          ${value.log && html`<${Card} title="Log"><div class="card-body"><${Code} text=${value.log} label="Log" /></div><//>`}
          ${value.result !== undefined && html`<${Card} title="Result"><div class="card-body"><${Code} text=${pretty(value.result)} label="Result" /></div>
            <//>`}
          <${Request} run=${value} /></div>
        <div class="stack"><${Card} title="Facts"><${RunFacts} run=${value} /><//></div></div></div>`;
}

/** Links to the runs before and after this one in the last list. */
function Neighbours({ id }) {
  let list = { ids: [] };
  try {
    list = JSON.parse(setting('last-list', '{"ids":[]}'));
  } catch {
    // An old list is only a convenience.
  }
  const at = list.ids.indexOf(id);
  if (at < 0) return null;
  const one = (step, icon, name, data) => {
    const other = list.ids[at + step];
    return other
      ? html`<a class="button" href=${runLink(other)} ...${data} title=${name} aria-label=${name}>${step < 0 ? '‹' : '›'}</a>`
      : html`<span class="button" aria-disabled="true"><span class="quiet">${step < 0 ? '‹' : '›'}</span></span>`;
  };
  return html`${one(-1, 'left', 'Previous run of the list ([)', { 'data-previous': true })}${one(1, 'right', 'Next run of the list (])', { 'data-next': true })}<a class="button" href=${runsLink(list.text)}>List</a>`;
}

function Actions({ run, signal, reload }) {
  const name = targetName(run.target);
  const done = (promise) =>
    promise.then((value) => {
      reload();
      return value;
    });
  const opened = (value) => {
    toast('The new run was created.');
    if (value && value.run) go('/runs/' + value.run);
  };
  const cancel = () =>
    confirmAction({
      title: 'Cancel this run?',
      tone: 'bad',
      confirm: 'Cancel run',
      text:
        run.state === 'running'
          ? 'The handler is asked to stop. The run is cancelled when it does.'
          : 'The run is not started. This cannot be undone.',
      fields: [{ name: 'reason', label: 'Reason (optional)' }],
      run: ({ reason }) =>
        done(post('v1/runs/' + enc(run.id) + '/cancel', reason ? { reason } : {})).then(() =>
          toast(run.state === 'running' ? 'The run was asked to stop.' : 'Cancelled.'),
        ),
    });
  const redrive = () =>
    confirmAction({
      title: 'Redrive this run?',
      confirm: 'Redrive',
      text: `A new run of ${name} starts with the same payload. This run stays as it is, linked to the new one.`,
      run: () => done(post('v1/runs/' + enc(run.id) + '/redrive')).then(opened),
    });
  const replay = () =>
    confirmAction({
      title: 'Send the request again?',
      confirm: 'Replay',
      text: 'The receiver gets the same message with the same id. This run does not change.',
      run: async () => openDelivery(await post('v1/runs/' + enc(run.id) + '/replay', {})),
    });
  return html`${run.state === 'waiting' && signal && html`<${ActionButton} icon="send" tone="main" needs="enqueue" onClick=${() => sendSignal(run, signal, reload)}>Send signal<//>`}
    ${run.state === 'waiting' && html`<${ActionButton} icon="runs" onClick=${() => act(() => done(post('v1/runs/' + enc(run.id) + '/reschedule', { at: new Date(serverNow()).toISOString() })), 'The run is due now.')}>Run now<//>`}
    ${['waiting', 'running'].includes(run.state) && html`<${ActionButton} icon="cancelled" tone="bad" onClick=${cancel}>Cancel<//>`}
    ${['dead', 'quarantined'].includes(run.state) && html`<${ActionButton} icon="edit" onClick=${() => editAndRedrive(run, opened)}>Edit and redrive<//>
      <${ActionButton} icon="redo" tone="main" onClick=${redrive}>Redrive<//>`}
    ${isWebhook(run) && run.endedAt && html`<${ActionButton} icon="send" onClick=${replay}>Replay request<//>`}`;
}

export const isWebhook = (run) => Boolean(run.target && (run.target.url || run.target.endpoint));

function storedPayload(run) {
  if (!isWebhook(run)) return pretty(run.payload);
  try {
    return pretty(parseExact(run.target.body));
  } catch {
    return JSON.stringify(run.target.body ?? null);
  }
}

/** The text of the new payload is sent as it was typed, so that no number is rounded. */
function editAndRedrive(run, opened) {
  openDialog('Edit and redrive', function Edit({ close }) {
    const [text, setText] = useState(storedPayload(run));
    const [error, setError] = useState(null);
    let fault = '';
    try {
      JSON.parse(text);
    } catch (invalid) {
      fault = 'This is no JSON: ' + invalid.message;
    }
    const submit = async (event) => {
      event.preventDefault();
      try {
        const value = await call('POST', 'v1/runs/' + enc(run.id) + '/redrive', { body: '{"payload":' + text + '}' });
        close();
        opened(value);
      } catch (failure) {
        setError(failure);
      }
    };
    return html`<form onSubmit=${submit}><p>The new run gets this payload. Hidden values that you leave unchanged keep their stored value.</p>
      <${Field} name="payload" label="Payload (JSON)" rows=${12} value=${text} onInput=${setText} error=${fault} autofocus />
      <${ErrorBox} error=${error} /><div class="dialog-actions"><${Button} onClick=${close}>Back<//><button type="submit" class="button button-main" disabled=${Boolean(fault)}>Redrive</button></div></form>`;
  });
}

export function openDelivery(delivery) {
  openDialog('Answer of the receiver', () => html`<${Delivery} delivery=${delivery} />`);
}

/** What is so, and what happens next. */
function Next({ run, explain }) {
  const progress = run.progress && run.progress.total > 0 ? run.progress : null;
  return html`<${Card}><div class="health"><${State} state=${run.state} /><div class="stack">
    <div>${explain ? friendly(firstLine(explain.summary)) : html`<span class="quiet">Reading why…</span>`}</div>
    ${explain && explain.holds && explain.holds.length > 0 && html`<ul>${explain.holds.map((hold) => html`<li>${friendly(hold)}</li>`)}</ul>`}
    ${run.lastError && run.state === 'waiting' && html`<div class="error-text">${firstLine(run.lastError)}</div>`}</div></div>
    ${progress && html`<div class="card-body"><div class="row spread"><span>Progress</span><span class="num">${count(progress.done)} of ${count(progress.total)}</span></div><progress max=${progress.total} value=${progress.done} aria-label="Progress"></progress></div>`}<//>`;
}

const FILLS = {
  succeeded: 'fill-good',
  dead: 'fill-bad',
  failed: 'fill-bad',
  running: 'fill-info',
  cancelled: 'fill-quiet',
  quarantined: 'fill-odd',
  crashed: 'fill-odd',
};
const fillOf = (outcome) =>
  FILLS[outcome] || (/fail|error|timeout|timed|crash|lost/.test(outcome || '') ? 'fill-bad' : 'fill-quiet');

/** The parts of a life: waiting, attempts, pauses between them. */
function partsOf(run, attempts) {
  const now = new Date(serverNow()).toISOString();
  const parts = [];
  // A run that was created ahead of its due time does not wait until it is due.
  let at = run.plannedAt && Date.parse(run.plannedAt) > Date.parse(run.createdAt) ? run.plannedAt : run.createdAt;
  const all = attempts
    .filter((one) => one.startedAt)
    .map((one) => ({
      from: one.startedAt,
      to: one.endedAt || one.startedAt,
      outcome: one.outcome,
      name: `attempt ${one.attempt}`,
    }));
  const last = all.length ? all[all.length - 1] : null;
  if (run.startedAt && (!last || Date.parse(run.startedAt) > Date.parse(last.from)))
    all.push({ from: run.startedAt, to: run.endedAt || now, outcome: run.state, name: `attempt ${run.attempt}` });
  for (const one of all) {
    if (Date.parse(one.from) > Date.parse(at))
      parts.push({
        from: at,
        to: one.from,
        fill: 'life-wait',
        name: parts.length ? 'pause before the next attempt' : 'waiting',
      });
    parts.push({ ...one, fill: fillOf(one.outcome), attempt: true });
    at = one.to;
  }
  if (run.state === 'waiting' && Date.parse(at) < Date.parse(now))
    parts.push({
      from: at,
      to: now,
      fill: 'life-wait',
      name: all.length ? 'pause before the next attempt' : 'waiting',
    });
  return parts;
}

function Life({ run, attempts }) {
  const parts = partsOf(run, attempts);
  if (parts.length === 0) return html`<div class="note">The run has not started${run.endedAt ? '' : ' yet'}.</div>`;
  const start = Date.parse(parts[0].from);
  const whole = Math.max(1, Date.parse(parts[parts.length - 1].to) - start);
  const active = parts.filter((part) => part.attempt).reduce((sum, part) => sum + between(part.from, part.to), 0);
  return html`<div class="life"><div class="life-bar" role="img" aria-label=${parts.map((part) => `${part.name} ${span(between(part.from, part.to))}`).join(', ')}>${parts.map((part) => html`<i class=${part.fill} title=${`${part.name}${part.outcome ? ' (' + part.outcome + ')' : ''}: ${span(between(part.from, part.to))}`} style=${{ left: `min(${(100 * (Date.parse(part.from) - start)) / whole}%, calc(100% - 3px))`, width: `${(100 * between(part.from, part.to)) / whole}%` }}></i>`)}</div>
    <div class="life-axis"><${Instant} at=${parts[0].from} /><span>waited ${span(whole - active)}, ran ${span(active)}</span><${Instant} at=${run.endedAt || parts[parts.length - 1].to} /></div></div>`;
}

function Attempts({ run, attempts }) {
  if (attempts.error) return html`<${ErrorBox} error=${attempts.error} />`;
  if (!attempts.data) return html`<${Skeleton} rows=${3} />`;
  const items = [...attempts.data.items].reverse();
  const last = items[0];
  const final =
    run.startedAt &&
    (run.state === 'running' || run.endedAt) &&
    (!last || last.attempt < run.attempt || run.state === 'running')
      ? html`<${Step} attempt=${{ attempt: run.attempt, startedAt: run.startedAt, endedAt: run.endedAt, outcome: run.state, error: run.endedAt && run.state !== 'succeeded' ? errorOf(run) : undefined, delivery: run.delivery }} open />`
      : null;
  if (!final && items.length === 0)
    return html`<div class="note">No attempt has started${run.state === 'waiting' ? html`; the run is due <${Time} at=${run.dueAt} />` : ''}.</div>`;
  return html`<div class="steps">${final}${items.map((attempt, i) => html`<${Step} attempt=${attempt} open=${!final && i === 0} />`)}</div>`;
}

function Step({ attempt, open }) {
  const line = firstLine(attempt.error);
  const stack = attempt.error && attempt.error.trim() !== line ? attempt.error : '';
  return html`<div class="step"><div class="step-mark"><i class=${fillOf(attempt.outcome)}></i></div>
    <div class="step-body"><div class="row"><strong>Attempt ${attempt.attempt}</strong><${State} state=${attempt.outcome} /><span class="quiet"><${Instant} at=${attempt.startedAt} />${attempt.endedAt && html` · took <span class="num">${span(between(attempt.startedAt, attempt.endedAt))}</span>`}${attempt.retryDelay && html` · next after ${isoSpan(attempt.retryDelay)}`}${attempt.node && html` · node <code>…${attempt.node.slice(-6)}</code>`}</span></div>
    ${line && html`<div class="error-text">${line}</div>`}
    ${stack && html`<details open=${open && stack.length < 3000}><summary>Whole error</summary><${Code} text=${stack} label="Error" /></details>`}
    ${attempt.delivery && html`<details open=${open}><summary>Answer of the receiver</summary><${Delivery} delivery=${attempt.delivery} /></details>`}</div></div>`;
}

export function Delivery({ delivery }) {
  return html`<div class="stack"><${Facts} items=${[
    [
      'Verdict',
      html`<${State} state=${delivery.verdict === 'delivered' || delivery.verdict === 'accepted' ? 'succeeded' : 'failed'} text=${delivery.verdict} />`,
    ],
    ['Status', delivery.status],
    ['Took', span(delivery.millis)],
    ['Note', delivery.note],
    ['Receiver asks to wait', delivery.pause && isoSpan(delivery.pause)],
  ]} />
    <div><span class="label">URL</span> <code>${delivery.url}</code></div>
    ${
      delivery.headers &&
      html`<details><summary>Headers of the answer</summary><${Code} text=${Object.entries(delivery.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')} label="Headers" /></details>`
    }
    ${delivery.body && html`<${Code} text=${delivery.body} label="Body of the answer" />`}</div>`;
}

function Request({ run }) {
  if (!isWebhook(run))
    return run.payload === undefined
      ? null
      : html`<${Card} title="Payload"><div class="card-body"><${Code} text=${pretty(run.payload)} label="Payload" /></div><//>`;
  const target = run.target;
  return html`<${Card} title="Request"><div class="card-body stack"><${Facts} items=${[
    ['Endpoint', target.endpoint && html`<a href=${link(['endpoints', target.endpoint])}>${target.endpoint}</a>`],
    ['URL', target.url && html`<code>${target.url}</code>`],
    ['Method', target.method],
  ]} />
    ${
      target.headers &&
      Object.keys(target.headers).length > 0 &&
      html`<${Code} text=${Object.entries(target.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')} label="Headers" />`
    }
    ${target.body !== undefined && html`<${Code} text=${storedPayload(run)} label="Body" />`}</div><//>`;
}

function RunFacts({ run }) {
  const [schedule, setSchedule] = useState(null);
  useEffect(() => {
    let current = true;
    if (run.schedule)
      get('v1/schedules', { limit: 200 })
        .then((page) => current && setSchedule(page.items.find((one) => one.id === run.schedule) || null))
        .catch(() => {});
    return () => {
      current = false;
    };
  }, [run.schedule]);
  const kind = targetKind(run.target);
  return html`<${Facts} items=${[
    [
      kind === 'handler' ? 'Handler' : 'Target',
      html`<a href=${kind === 'handler' ? runsLink(qualifier('handler', targetName(run.target))) : kind === 'endpoint' ? link(['endpoints', run.target.endpoint]) : runsLink('')}>${targetName(run.target)}</a>`,
    ],
    ['Queue', html`<a href=${queueLink(run.queue)}>${run.queue}</a>`],
    ['Priority', run.priority],
    ['Origin', run.origin],
    [
      'Schedule',
      run.schedule &&
        (schedule
          ? html`<a href=${scheduleLink(schedule.name)}>${schedule.name}</a>`
          : html`<code>${run.schedule}</code>`),
    ],
    ['Created', html`<${Instant} at=${run.createdAt} />`],
    ['Planned', run.plannedAt && html`<${Instant} at=${run.plannedAt} />`],
    ['Due', html`<${Instant} at=${run.dueAt} />`],
    ['Started', run.startedAt && html`<${Instant} at=${run.startedAt} />`],
    ['Ended', run.endedAt && html`<${Instant} at=${run.endedAt} />`],
    ['Late', run.late && isoSpan(run.late)],
    ['Attempt', `${run.attempt}${run.retry && run.retry.attempts ? ' of ' + run.retry.attempts : ''}`],
    ['Failures', run.failures],
    ['Crashes', run.crashes || undefined],
    ['Timeout', run.timeout && span(millis(run.timeout))],
    ['Unique key', run.key && html`<code>${run.key}</code>`],
    ['Parked', run.parked],
    ['Reason', run.state === 'dead' ? undefined : firstLine(run.reason)],
    [run.origin === 'workflow' ? 'Started by' : 'Redriven from', run.parent && html`<a href=${runLink(run.parent)}>…${run.parent.slice(-6)}</a>`],
  ]} />`;
}

export { Notice };
