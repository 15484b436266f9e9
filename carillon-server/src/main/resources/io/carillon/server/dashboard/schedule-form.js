// Creates and edits schedules. While one types, the server explains the timing and shows its next instants.
import { call, enc, get, inApplication, post } from './api.js';
import { localZone, millis, pretty, span, targetKind, zoneName } from './format.js';
import { useDebounced, useLoad } from './load.js';
import { Card, ErrorBox, Field, Head, Notice, Skeleton, toast } from './parts.js';
import { go, link, scheduleLink } from './router.js';
import { InstantList } from './schedule.js';
import { html, useEffect, useRef, useState } from './ui.js';

const ZONES = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
const UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months', 'years'];
const EMPTY = {
  name: '',
  kind: 'cron',
  cron: '0 2 * * *',
  amount: '10',
  unit: 'minutes',
  once: '',
  zone: localZone,
  from: '',
  until: '',
  except: '',
  jitter: '',
  gap: 'run-after',
  repeat: 'first',
  target: 'handler',
  handler: '',
  endpoint: '',
  url: '',
  topic: '',
  type: '',
  eventKey: '',
  payload: '{}',
  queue: '',
  priority: 'normal',
  attempts: '',
  timeout: '',
  missed: 'run-once',
  overlap: 'skip',
  grace: '',
  pauseAfter: '',
};
const choices = (values) =>
  values.map((value) =>
    Array.isArray(value) ? { value: value[0], name: value[1] } : { value, name: value.replace(/-/g, ' ') },
  );
const localInput = (instant) =>
  instant
    ? new Date(Date.parse(instant) - new Date(instant).getTimezoneOffset() * 60000).toISOString().slice(0, 19)
    : '';
const short = (text) => (text ? span(millis(text)).replaceAll(' min', 'm').replaceAll(' ', '') : '');

/** The fields of the form for a stored schedule. */
function toForm(schedule) {
  const { when, target } = schedule;
  const webhook = target.endpoint || target.url;
  let payload = schedule.payload === undefined || schedule.payload === null ? '{}' : pretty(schedule.payload);
  if (webhook) payload = target.body || '';
  return {
    ...EMPTY,
    name: schedule.name,
    kind: when.cron ? 'cron' : when.once ? 'once' : when.adaptive ? 'adaptive' : 'every',
    cron: when.cron || EMPTY.cron,
    amount: String(when.every ? when.every.amount : 10),
    unit: when.every ? when.every.unit : 'minutes',
    once: localInput(when.once),
    zone: when.zone || localZone,
    from: localInput(when.from),
    until: localInput(when.until),
    except: (when.except || []).join(', '),
    jitter: when.jitter || '',
    gap: when.gap,
    repeat: when.repeat,
    target: targetKind(target),
    handler: target.handler || '',
    endpoint: target.endpoint || '',
    url: target.url || '',
    topic: target.event ? target.event.topic : '',
    type: target.event ? target.event.type : '',
    eventKey: (target.event && target.event.key) || '',
    payload,
    queue: target.endpoint ? '' : schedule.queue,
    priority: schedule.priority,
    attempts: schedule.retry && schedule.retry.attempts ? String(schedule.retry.attempts) : '',
    timeout: schedule.timeout || '',
    missed: schedule.missed || EMPTY.missed,
    overlap: schedule.overlap || EMPTY.overlap,
    grace: schedule.grace || '',
    pauseAfter: schedule.pauseAfter ? String(schedule.pauseAfter) : '',
  };
}

/** The timing in the form of the API; the stored one keeps what the form does not show. */
function toWhen(form, stored) {
  const when = {};
  if (form.kind === 'cron') Object.assign(when, { cron: form.cron.trim(), zone: form.zone });
  if (form.kind === 'every')
    Object.assign(when, {
      every: {
        amount: Number(form.amount),
        unit: form.unit,
        ...(stored && stored.when.every && stored.when.every.start && { start: stored.when.every.start }),
      },
      zone: form.zone,
    });
  if (form.kind === 'once') when.once = form.once ? new Date(form.once).toISOString() : '';
  if (form.kind === 'adaptive') when.adaptive = stored.when.adaptive;
  if (form.kind !== 'once') {
    if (form.from) when.from = new Date(form.from).toISOString();
    if (form.until) when.until = new Date(form.until).toISOString();
    const except = form.except.split(/[\s,]+/).filter(Boolean);
    if (except.length) when.except = except;
    if (form.jitter) when.jitter = form.jitter;
    if (stored && stored.when.maxRuns) when.maxRuns = stored.when.maxRuns;
  }
  if (form.kind === 'cron' || form.kind === 'every') Object.assign(when, { gap: form.gap, repeat: form.repeat });
  return when;
}

const toEvent = ({ topic, type, eventKey }) => ({
  event: { topic: topic.trim(), type: type.trim(), ...(eventKey.trim() && { key: eventKey.trim() }) },
});

function toBody(form, stored) {
  const webhook = form.target === 'endpoint' || form.target === 'url';
  const keep =
    stored && targetKind(stored.target) === form.target && webhook
      ? Object.fromEntries(
          Object.entries(stored.target).filter(([name]) => !['body', 'endpoint', 'url'].includes(name)),
        )
      : {};
  const body = {
    when: toWhen(form, stored),
    target: form.target === 'event' ? toEvent(form) : { ...keep, [form.target]: form[form.target].trim() },
    priority: form.priority,
    missed: form.missed,
    overlap: form.overlap,
  };
  if (stored)
    for (const name of ['catchUp', 'missedCap', 'missedSpread'])
      if (stored[name] !== undefined && stored[name] !== null) body[name] = stored[name];
  if (form.queue.trim() && form.target !== 'endpoint') body.queue = form.queue.trim();
  if (form.attempts) body.retry = { ...(stored ? stored.retry : {}), attempts: Number(form.attempts) };
  else if (stored && stored.retry && form.target !== 'endpoint') body.retry = stored.retry;
  if (form.timeout) body.timeout = form.timeout.trim();
  if (form.grace) body.grace = form.grace.trim();
  if (form.pauseAfter) body.pauseAfter = Number(form.pauseAfter);
  return body;
}

/** The payload is sent as it was typed. */
function toJson(form, stored) {
  const text = JSON.stringify(toBody(form, stored));
  return form.payload.trim() ? text.slice(0, -1) + ',"payload":' + form.payload + '}' : text;
}

export function ScheduleFormPage({ name }) {
  const stored = useLoad('edit ' + (name || 'new'), () =>
    name ? get('v1/schedules/' + enc(name), {}, { exact: true }) : { fresh: true },
  );
  const title = name ? 'Edit ' + name : 'New schedule';
  if (stored.error) return html`<${Head} title=${title} /><${ErrorBox} error=${stored.error} retry=${stored.reload} />`;
  if (!stored.data) return html`<${Head} title=${title} /><${Card}><${Skeleton} /><//>`;
  return html`<${Form} title=${title} stored=${stored.data.fresh ? null : stored.data} />`;
}

function Form({ title, stored }) {
  const [form, setForm] = useState(stored ? toForm(stored) : EMPTY);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const names = useLoad('form names', async () => ({
    endpoints: inApplication ? [] : (await get('v1/endpoints', { limit: 200 }).catch(() => ({ items: [] }))).items,
    queues: (await get('v1/queues').catch(() => ({ items: [] }))).items,
    nodes: (await get('v1/nodes').catch(() => ({ items: [] }))).items,
  }));
  const set = (field) => (value) => setForm((old) => ({ ...old, [field]: value }));
  const bind = (field, label, more = {}) =>
    html`<${Field} name=${field} label=${label} value=${form[field]} onInput=${set(field)} error=${faultOf(error, field)} ...${more} />`;
  const handlers = [...new Set((names.data ? names.data.nodes : []).flatMap((node) => node.handlers || []))].sort();
  let jsonFault = '';
  if (form.payload.trim()) {
    try {
      JSON.parse(form.payload);
    } catch (invalid) {
      jsonFault = 'This is no JSON: ' + invalid.message;
    }
  }
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const headers = stored ? (stored.etag ? { 'If-Match': stored.etag } : {}) : { 'If-None-Match': '*' };
      const saved = await call('PUT', 'v1/schedules/' + enc(form.name.trim()), { body: toJson(form, stored), headers });
      for (const warning of saved.warnings || []) toast(warning, 'bad');
      toast(stored ? 'Saved.' : 'Created.');
      go(scheduleLink(saved.name).slice(1));
    } catch (failure) {
      if (failure.status === 412)
        failure.message = stored
          ? 'The schedule was changed meanwhile. Load the page again and repeat your change.'
          : 'A schedule with this name exists. Choose another name, or edit that one.';
      setError(failure);
      setBusy(false);
      document.getElementById('form-error')?.scrollIntoView({ block: 'nearest' });
    }
  };
  const kinds = [
    ['cron', 'Cron expression'],
    ['every', 'Interval'],
    ['once', 'Once'],
    ...(form.kind === 'adaptive' ? [['adaptive', 'Adaptive interval']] : []),
  ];
  return html`<${Head} title=${title} /><form onSubmit=${submit} class="two"><div class="stack">
      <${Card} title="What"><div class="form">${bind('name', 'Name', { required: true, disabled: Boolean(stored), autofocus: !stored, placeholder: 'reports.nightly', help: 'Lower-case letters, digits, dot, hyphen and underscore.' })}
        <div class="form-row">${bind('target', 'Target', {
          options: choices([
            ['handler', 'Handler'],
            ['endpoint', 'Endpoint'],
            ['url', 'URL (webhook)'],
            ['event', 'Event'],
          ]).filter((one) => !inApplication || one.value === 'handler' || one.value === form.target),
        })}
          ${form.target === 'handler' && bind('handler', 'Handler', { required: true, list: 'handlers', placeholder: 'report.build' })}
          ${form.target === 'endpoint' && bind('endpoint', 'Endpoint', { required: true, list: 'endpoints' })}
          ${form.target === 'url' && bind('url', 'URL', { required: true, type: 'url', placeholder: 'https://' })}
          ${form.target === 'event' && html`${bind('topic', 'Topic', { required: true, placeholder: 'books' })}${bind('type', 'Event type', { required: true, placeholder: 'books.closed' })}${bind('eventKey', 'Event key')}`}</div>
        <datalist id="handlers">${handlers.map((one) => html`<option value=${one}></option>`)}</datalist><datalist id="endpoints">${(names.data ? names.data.endpoints : []).map((one) => html`<option value=${one.name}></option>`)}</datalist>
        ${bind('payload', { handler: 'Payload (JSON)', event: 'Data (JSON)' }[form.target] || 'Body (JSON)', { rows: 5, error: jsonFault })}</div><//>
      <${Card} title="When"><div class="form"><div class="form-row">${bind('kind', 'Timing', { options: choices(kinds) })}
          ${form.kind === 'cron' && bind('cron', 'Cron expression', { required: true, help: 'Minute, hour, day of month, month, day of week; a sixth field in front is the second.' })}
          ${form.kind === 'every' && html`${bind('amount', 'Every', { type: 'number', required: true })}${bind('unit', 'Unit', { options: choices(UNITS) })}`}
          ${form.kind === 'once' && bind('once', 'At', { type: 'datetime-local', required: true, help: 'In your time zone, ' + localZone })}
          ${(form.kind === 'cron' || form.kind === 'every') && bind('zone', 'Time zone', { list: 'zones', required: true })}</div><datalist id="zones">${ZONES.map((one) => html`<option value=${one}></option>`)}</datalist>
        ${
          form.kind !== 'once' &&
          html`<details><summary>Bounds, exceptions, daylight saving</summary><div class="form-row">${bind('from', 'From', { type: 'datetime-local', help: 'In your time zone, ' + localZone })}${bind('until', 'Until', { type: 'datetime-local' })}${bind('except', 'Except the dates', { placeholder: '2026-12-24, 2026-12-25' })}${bind('jitter', 'Jitter', { placeholder: '30s' })}
          ${bind('gap', 'A local time that does not exist', {
            options: choices([
              ['run-after', 'run right after the gap'],
              ['skip', 'skip'],
            ]),
          })}${bind('repeat', 'A local time that occurs twice', {
            options: choices([
              ['first', 'run the first time'],
              ['second', 'run the second time'],
              ['both', 'run both times'],
            ]),
          })}</div></details>`
        }</div><//>
      <${Card} title="How"><div class="form"><div class="form-row">${form.target !== 'endpoint' && bind('queue', 'Queue', { placeholder: 'default', help: 'Empty: the queue of the handler.' })}${bind('priority', 'Priority', { options: choices(['high', 'normal', 'low', 'bulk']) })}${bind('attempts', 'Attempts', { type: 'number', help: 'Empty: the default.' })}${bind('timeout', 'Timeout of an attempt', { placeholder: '5m' })}</div>
        <div class="form-row">${bind('missed', 'Missed instants', {
          options: choices([
            ['run-once', 'run once for all'],
            ['run-all', 'run each'],
            ['skip', 'skip'],
          ]),
          help: 'If no node ran at the planned instant.',
        })}${bind('overlap', 'If the last run has not ended', {
          options: choices([
            ['allow', 'start anyway'],
            ['skip', 'skip'],
            ['queue-one', 'wait, keep one'],
            ['queue-all', 'wait, keep all'],
            ['cancel-previous', 'cancel the last run'],
          ]),
        })}${bind('grace', 'Grace', { placeholder: '1m', help: 'A later start counts as late.' })}${bind('pauseAfter', 'Pause after failures', { type: 'number', help: 'Empty: never.' })}</div></div>
          <//>
      <div id="form-error"><${ErrorBox} error=${error} /></div>
      <div class="row"><button type="submit" class="button button-main" disabled=${busy || Boolean(jsonFault)}>${busy ? 'Saving…' : stored ? 'Save' : 'Create schedule'}</button><a class="button" href=${stored ? scheduleLink(stored.name) : '#/schedules'}>Back</a></div></div>
    <div class="stack"><${Preview} form=${form} stored=${stored} /></div></form>`;
}

function faultOf(error, field) {
  const found =
    error && (error.errors || []).find((fault) => fault.pointer && fault.pointer.split('/').pop() === field);
  return found ? found.detail : undefined;
}

/** What the timing means, as the server reads it. The last answer stays while the next is on its way. */
function Preview({ form, stored }) {
  const text = useDebounced(JSON.stringify(toSafeWhen(form, stored)), 250);
  const [shown, setShown] = useState(null);
  const [error, setError] = useState(null);
  const newest = useRef(0);
  useEffect(() => {
    const mine = ++newest.current;
    if (text === '{}') return;
    post('v1/schedules:preview', { when: JSON.parse(text), count: 10 }).then(
      (preview) => {
        if (mine !== newest.current) return;
        setShown(preview);
        setError(null);
      },
      (failure) => mine === newest.current && setError(failure),
    );
  }, [text]);
  const fault =
    error &&
    [
      error.message === 'Invalid request.' || (error.errors || []).length ? '' : error.message,
      ...(error.errors || []).map((one) => one.detail),
    ]
      .filter(Boolean)
      .join(' ');
  return html`<${Card} title="What this means"><div aria-live="polite"><div class="explain">${error ? html`<span class="error-text">${fault}</span>` : shown ? shown.description : html`<span class="quiet">…</span>`}</div>
    ${!error && shown && shown.warnings && html`<div class="card-body">${shown.warnings.map((warning) => html`<${Notice}>${warning}<//>`)}</div>`}</div>
    ${shown && shown.entries.length > 0 ? html`<${InstantList} entries=${shown.entries} zone=${shown.zone} />` : shown && html`<div class="note">This never runs.</div>`}
    <div class="note">In ${shown ? shown.zone : form.zone}${shown && shown.zone !== zoneName() ? ' and in ' + zoneName() : ''}.</div><//>`;
}

function toSafeWhen(form, stored) {
  try {
    return toWhen(form, stored);
  } catch {
    return {};
  }
}

export { link, short };
