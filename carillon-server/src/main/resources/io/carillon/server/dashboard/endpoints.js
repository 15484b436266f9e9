// Endpoints, the runs that deliver to them, and test sends.
import { can, enc, get, post } from './api.js';
import { brief, errorOf, isoSpan, plural, span, WEBHOOK } from './format.js';
import { useLoad } from './load.js';
import {
  ActionButton,
  Button,
  Card,
  Command,
  Empty,
  ErrorBox,
  Facts,
  Field,
  Head,
  Instant,
  More,
  Notice,
  openDialog,
  Skeleton,
  State,
  Time,
} from './parts.js';
import { link, queueLink, runLink, runsLink } from './router.js';
import { Delivery } from './run.js';
import { Took, whenOf } from './runs.js';
import { html, useState } from './ui.js';

export function EndpointsPage() {
  const [tail, setTail] = useState([]);
  const first = useLoad('endpoints', () => get('v1/endpoints', { limit: 100 }), {
    kinds: ['endpoint', 'queue'],
    every: 30000,
  });
  const items = first.data ? [...first.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : first.data && first.data.next;
  const deliveries = useLoad('deliveries', () => get('v1/runs', { handler: WEBHOOK, limit: 25 }), {
    kinds: ['run'],
    every: 15000,
  });
  return html`<${Head} title="Endpoints and deliveries">${can('manage') && html`<${ActionButton} icon="send" onClick=${() => testSend()}>Test send<//>`}<//><div class="stack">
    <${ErrorBox} error=${first.error} retry=${first.reload} />
    ${
      !first.data
        ? !first.error && html`<${Card}><${Skeleton} /><//>`
        : items.length === 0
          ? html`<${Card}><${Empty} icon="endpoints" title="No endpoints yet"><p>An endpoint is a receiver of webhooks with a name, secrets and its own queue.</p>
            <${Command} text="carillon endpoint create crm --url https://crm.example/hooks" /><//><//>`
          : html`<${Card} title="Endpoints"><div class="table-wrap">
            <table>
            <thead><tr>
            <th>Name</th>
            <th>State</th>
            <th class="c-narrow">URL</th>
            <th class="c-mid">Method</th>
            <th class="c-mid">Secrets</th>
            <th class="c-wide">Queue</th></tr>
            </thead>
            <tbody>${items.map((one) => html`<tr data-row><td><a class="main-link" href=${link(['endpoints', one.name])}>${one.name}</a></td>
            <td><${EndpointState} endpoint=${one} /></td>
            <td class="c-narrow wide-cell"><div class="cut"><code>${one.url}</code></div></td>
            <td class="c-mid">${one.method}</td>
            <td class="c-mid">${(one.secrets || []).map((secret) => secret.name).join(', ')}</td>
            <td class="c-wide"><a href=${queueLink(one.queue)}>${one.queue}</a></td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/endpoints', { limit: 100, cursor: next })])} /><//>`
    }
    <${Deliveries} title="Newest deliveries to all receivers" runs=${deliveries} all=${runsLink('handler:' + WEBHOOK)} /></div>`;
}

const EndpointState = ({ endpoint }) =>
  endpoint.paused
    ? html`<${State} state="paused" note=${endpoint.paused.reason} />`
    : html`<${State} state="succeeded" text="Active" />`;

function Deliveries({ title, runs, all }) {
  const items = runs.data ? runs.data.items : [];
  return html`<${Card} title=${title} actions=${html`<a href=${all}>All</a>`}>${
    runs.error
      ? html`<${ErrorBox} error=${runs.error} />`
      : !runs.data
        ? html`<${Skeleton} rows=${4} />`
        : items.length === 0
          ? html`<div class="note">No delivery yet. A schedule or a run with a webhook as its target makes one.</div>`
          : html`<div class="table-wrap">
            <table>
            <thead><tr>
            <th>State</th>
            <th>Receiver</th>
            <th class="right">Status</th>
            <th class="c-narrow">When</th>
            <th class="right c-mid">Took</th>
            <th class="c-mid">Error</th></tr>
            </thead>
            <tbody>${items.map((run) => html`<tr data-row><td><${State} state=${run.state} /></td>
            <td class="wide-cell"><a class="main-link" href=${runLink(run.id)}><div class="cut">${(run.delivery && run.delivery.url) || run.queue}</div></a></td>
            <td class="num-col">${(run.delivery && run.delivery.status) || '–'}</td>
            <td class="c-narrow"><${Time} at=${whenOf(run)[0]} /></td>
            <td class="num-col c-mid">${run.delivery ? span(run.delivery.millis) : html`<${Took} run=${run} />`}</td>
            <td class="c-mid wide-cell"><div class="cut">${brief(errorOf(run))}</div></td></tr>`)}</tbody></table></div>`
  }<//>`;
}

export function EndpointPage({ name }) {
  const endpoint = useLoad('endpoint ' + name, () => get('v1/endpoints/' + enc(name)), {
    kinds: ['endpoint', 'queue'],
    every: 15000,
  });
  const value = endpoint.data;
  const deliveries = useLoad(
    'deliveries ' + name + (value ? value.queue : ''),
    () => (value ? get('v1/runs', { queue: value.queue, limit: 50 }) : { items: [] }),
    { kinds: ['run'], every: 10000 },
  );
  if (!value)
    return html`<${Head} title=${name} />${endpoint.error ? html`<${ErrorBox} error=${endpoint.error} retry=${endpoint.reload} />` : html`<${Card}><${Skeleton} /><//>`}`;
  return html`<${Head} title=${name} sub=${html`<code>${value.url}</code>`}><a class="button" href=${queueLink(value.queue)}>Queue</a><${ActionButton} icon="send" tone="main" onClick=${() => testSend(name)}>Test send<//><//>
    <div class="stack">${value.paused && html`<${Notice} icon="paused"><strong>Paused <${Time} at=${value.paused.at} />${value.paused.by ? ' by ' + value.paused.by : ''}.</strong><div>${value.paused.reason || ''}</div>
      <div>Resume its <a href=${queueLink(value.queue)}>queue</a> to deliver again.</div>
      <//>`}
      <div class="two"><${Deliveries} title="Deliveries" runs=${deliveries} all=${runsLink('queue:' + value.queue)} /><div class="stack">
        <${Card} title="Facts"><${Facts} items=${[
        ['State', html`<${EndpointState} endpoint=${value} />`],
        ['Method', value.method],
        ['Timeout', value.timeouts && isoSpan(value.timeouts.total)],
        ['Connect timeout', value.timeouts && isoSpan(value.timeouts.connect)],
        ['Success', (value.success || []).join(', ')],
        ['Callback within', value.callback && isoSpan(value.callback)],
        ['Attempts', value.retry && value.retry.attempts],
        ['Created', html`<${Instant} at=${value.createdAt} />`],
        ['Created by', value.createdBy],
        ['Changed', html`<${Instant} at=${value.updatedAt} />`],
        ['Version', value.version],
      ]} /><//>
        <${Card} title=${(value.secrets || []).length ? plural(value.secrets.length, 'secret') : 'No secrets'}>${(value.secrets || []).map(
          (secret) =>
            html`<${Facts} items=${[
              ['Name', secret.name],
              ['Kind', secret.kind],
              ['Algorithm', secret.algorithm],
              ['Header', secret.header],
              ['Created', html`<${Time} at=${secret.createdAt} />`],
              ['Rotated', secret.rotatedAt && html`<${Time} at=${secret.rotatedAt} />`],
              ['Old one signs until', secret.previousUntil && html`<${Time} at=${secret.previousUntil} />`],
              ['Public key', secret.publicKey && html`<code>${secret.publicKey}</code>`],
            ]} />`,
        )}<div class="note">Values are never shown. Change them with <code>carillon endpoint rotate ${name}</code>.</div>
          <//></div></div></div>`;
}

function checkJson(text) {
  try {
    JSON.parse(text);
  } catch (malformed) {
    throw new Error(`The body is not valid JSON: ${malformed.message}.`);
  }
}

/** Sends one webhook now, without a run, and shows the answer. */
function testSend(endpoint) {
  openDialog('Test send', function Test({ close }) {
    const [kind, setKind] = useState(endpoint ? 'endpoint' : 'url');
    const [value, setValue] = useState(endpoint || '');
    const [payload, setPayload] = useState('{"test": true}');
    const [answer, setAnswer] = useState(null);
    const [error, setError] = useState(null);
    const [busy, setBusy] = useState(false);
    const submit = async (event) => {
      event.preventDefault();
      setBusy(true);
      setError(null);
      setAnswer(null);
      try {
        checkJson(payload);
        setAnswer(
          await post('v1/webhooks/test', `{"target":${JSON.stringify({ [kind]: value.trim() })},"payload":${payload}}`),
        );
      } catch (failure) {
        setError(failure);
      }
      setBusy(false);
    };
    return html`<form onSubmit=${submit}><p>Sends one message now. No run is created.</p>
      ${
        !endpoint &&
        html`<${Field} name="kind" label="Receiver" value=${kind} onInput=${setKind} options=${[
          { value: 'url', name: 'URL' },
          { value: 'endpoint', name: 'Endpoint' },
        ]} />`
      }
      <${Field} name="receiver" label=${kind === 'url' ? 'URL' : 'Endpoint'} value=${value} onInput=${setValue} required disabled=${Boolean(endpoint)} /><${Field} name="test-payload" label="Body (JSON)" rows=${5} value=${payload} onInput=${setPayload} />
      <${ErrorBox} error=${error} />${answer && html`<${Delivery} delivery=${answer} />`}
      <div class="dialog-actions"><${Button} onClick=${close}>Close<//><button type="submit" class="button button-main" disabled=${busy}>${busy ? 'Sending…' : 'Send'}</button></div></form>`;
  });
}
