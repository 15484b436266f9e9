// Events: topics, subscriptions, the events of a topic, and one event with its deliveries.
import { can, enc, get, post, remove } from './api.js';
import { brief, count, firstLine, pretty } from './format.js';
import { useDebounced, useLoad } from './load.js';
import {
  act,
  ActionButton,
  Card,
  Code,
  Command,
  confirmAction,
  Empty,
  ErrorBox,
  Facts,
  Field,
  Head,
  Id,
  Instant,
  More,
  Notice,
  Skeleton,
  State,
  Time,
  toast,
} from './parts.js';
import { eventLink, go, link, queueLink, runLink, scheduleLink, setQuery, subscriptionLink } from './router.js';
import { classes, html, useEffect, useState } from './ui.js';

const topicLink = (topic) => link('events', { topic });

export function EventsPage({ query }) {
  const topic = query.get('topic') || '';
  const topics = useLoad('topics', () => get('v1/topics'), { kinds: ['event'], every: 5000 });
  const relays = useLoad('relays', () => get('v1/relays', { limit: 100 }), { kinds: ['event', 'relay'], every: 5000 });
  const sources = useLoad('sources', () => get('v1/sources'), { kinds: ['event'], every: 5000 });
  const [tail, setTail] = useState([]);
  const [relayTail, setRelayTail] = useState([]);
  const first = useLoad('subscriptions', () => get('v1/subscriptions', { limit: 100 }), {
    kinds: ['event', 'subscription'],
    every: 5000,
  });
  const subscriptions = first.data ? [...first.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : first.data && first.data.next;
  const allRelays = relays.data ? [relays.data, ...relayTail] : [];
  const nextRelays = allRelays.length ? allRelays[allRelays.length - 1].next : null;
  const transfers = [relays, sources].some((one) => one.data && one.data.items.length > 0);
  const nothing =
    topics.data && first.data && topics.data.items.length === 0 && subscriptions.length === 0 && !transfers && !topic;
  return html`<${Head} title="Events" /><div class="stack">
    <${ErrorBox} error=${topics.error || first.error} retry=${topics.error ? topics.reload : first.reload} />
    ${
      nothing
        ? html`<${Teach} />`
        : html`${topic && html`<${TopicEvents} key=${topic} topic=${topic} query=${query} />`}
          <div class="two"><${Subscriptions} items=${first.data && subscriptions} more=${html`<${More} next=${next} load=${async () => setTail([...tail, await get('v1/subscriptions', { limit: 100, cursor: next })])} />`} />
          <${Topics} topics=${topics.data} chosen=${topic} /></div>
          <${ErrorBox} error=${relays.error || sources.error} />
          ${relays.data && relays.data.items.length > 0 && html`<${Relays} items=${allRelays.flatMap((page) => page.items)} more=${html`<${More} next=${nextRelays} load=${async () => setRelayTail([...relayTail, await get('v1/relays', { limit: 100, cursor: nextRelays })])} />`} />`}
          ${sources.data && sources.data.items.length > 0 && html`<${Sources} items=${sources.data.items} />`}`
    }</div>`;
}

function Teach() {
  return html`<${Card}><${Empty} icon="events" title="No events yet"><p>An event is a fact, such as an order that was placed. It is kept, and delivered to each subscription: to a handler in Java, or to an endpoint.</p>
    <p>Publish one, and subscribe an endpoint to its topic:</p>
    <${Command} text=${"carillon event publish orders order.placed --key 17 --data '{\"amount\":4200}'"} />
    <${Command} text="carillon subscription create notify-shop --topic orders --endpoint shop --in-order" /><//><//>`;
}

function Topics({ topics, chosen }) {
  if (!topics) return html`<${Card} title="Topics"><${Skeleton} rows=${4} /><//>`;
  return html`<${Card} title="Topics">${
    topics.items.length === 0
      ? html`<div class="note">No event was published yet.</div>`
      : html`<div class="table-wrap"><table><thead><tr><th>Topic</th><th class="right">Last minute</th><th class="c-narrow">Newest</th></tr></thead>
        <tbody>${topics.items.map(
          (one) => html`<tr data-row class=${classes(one.name === chosen && 'current')}><td><a class="main-link" href=${topicLink(one.name)}>${one.name}</a></td>
          <td class="num-col">${count(one.lastMinute, one.more)}</td><td class="c-narrow"><${Time} at=${one.lastPublishedAt} /></td></tr>`,
        )}</tbody></table></div>`
  }<//>`;
}

const patternOf = (subscription) =>
  subscription.types.length === 1 && subscription.types[0] === '*'
    ? subscription.topic
    : subscription.topic + ': ' + subscription.types.join(', ');

function Receiver({ target }) {
  return target.endpoint
    ? html`<a href=${link(['endpoints', target.endpoint])}>${target.endpoint}</a><div class="under">endpoint</div>`
    : html`${target.handler}<div class="under">handler</div>`;
}

const SubscriptionState = ({ subscription }) =>
  subscription.paused
    ? html`<${State} state="paused" note=${subscription.paused.reason} />`
    : subscription.lag.count > 0
      ? html`<${State} state="waiting" text="Behind" />`
      : html`<${State} state="succeeded" text="Up to date" />`;

function Subscriptions({ items, more }) {
  if (!items) return html`<${Card} title="Subscriptions"><${Skeleton} rows=${4} /><//>`;
  return html`<${Card} title="Subscriptions">${
    items.length === 0
      ? html`<div class="note">No subscription yet: events are kept, and nothing gets them.</div><${Command} text="carillon subscription create notify-shop --topic orders --endpoint shop" />`
      : html`<div class="table-wrap"><table><thead><tr><th>Name</th><th>State</th><th class="right">Lag</th><th class="c-narrow">Oldest</th><th class="c-mid">Events</th><th class="c-wide">Receiver</th></tr></thead>
        <tbody>${items.map(
          (one) => html`<tr data-row><td><a class="main-link" href=${subscriptionLink(one.name)}>${one.name}</a></td>
          <td><${SubscriptionState} subscription=${one} /></td>
          <td class="num-col">${count(one.lag.count, one.lag.more)}</td>
          <td class="c-narrow"><${Time} at=${one.lag.oldest} /></td>
          <td class="c-mid wide-cell"><div class="cut">${patternOf(one)}</div></td>
          <td class="c-wide"><${Receiver} target=${one.target} /></td></tr>`,
        )}</tbody></table></div>${more}`
  }<//>`;
}

const RELAY_STATES = {
  sending: ['succeeded', 'Sending'],
  failing: ['failed', 'Failing'],
  'without-node': ['missed', 'No node'],
};

function RelayState({ state }) {
  const [look, text] = RELAY_STATES[state];
  return html`<${State} state=${look} text=${text} />`;
}

/** What is wrong with a relay, in words; nothing if it sends all events. */
function RelayProblem({ relay }) {
  if (relay.state === 'without-node') return 'No node has this relay. Start a node that declares it, or delete it.';
  if (relay.error) return html`since <${Time} at=${relay.failingSince} />: ${firstLine(relay.error)}`;
  if (relay.rejected === 0) return null;
  return html`<code>carillon relay get ${relay.name}</code> shows what was rejected`;
}

function Relays({ items, more }) {
  return html`<${Card} title="Relays"><div class="table-wrap"><table><thead><tr><th>Name</th><th>State</th><th class="right">Lag</th><th class="right">Rejected</th><th class="c-narrow">Oldest</th><th class="c-mid">Destination</th><th class="c-wide">Node</th><th class="c-mid">Problem</th></tr></thead>
    <tbody>${items.map(
      (one) => html`<tr data-row><td>${one.name}<div class="under"><a href=${topicLink(one.topic)}>${one.topic}</a></div></td>
      <td><${RelayState} state=${one.state} /></td>
      <td class="num-col">${count(one.lag.count, one.lag.more)}</td>
      <td class="num-col">${count(one.rejected, one.rejected >= 10000)}</td>
      <td class="c-narrow"><${Time} at=${one.lag.oldest} /></td>
      <td class="c-mid wide-cell"><div class="cut">${one.destination}</div></td>
      <td class="c-wide">${one.node && html`<${Id} value=${one.node} />`}</td>
      <td class="c-mid wide-cell"><${RelayProblem} relay=${one} /></td></tr>`,
    )}</tbody></table></div>${more}<//>`;
}

function Sources({ items }) {
  return html`<${Card} title="Sources"><div class="table-wrap"><table><thead><tr><th>Name</th><th>State</th><th>Partition</th><th class="right">Next</th><th class="c-narrow">Newest record</th><th class="c-mid">Problem</th></tr></thead>
    <tbody>${items.map(
      (one) => html`<tr data-row><td>${one.name}</td>
      <td>${one.blockedSince ? html`<${State} state="failed" text="Blocked" />` : html`<${State} state="succeeded" text="Reading" />`}</td>
      <td>${one.partition}</td><td class="num-col">${one.next}</td>
      <td class="c-narrow"><${Time} at=${one.movedAt} /></td>
      <td class="c-mid wide-cell"><div class="cut">${firstLine(one.reason)}</div></td></tr>`,
    )}</tbody></table></div><//>`;
}

function TopicEvents({ topic, query }) {
  const [type, setType] = useState(query.get('type') || '');
  const [key, setKey] = useState(query.get('key') || '');
  const wanted = useDebounced(type.trim() + '\n' + key.trim(), 300);
  const [ofType, ofKey] = wanted.split('\n');
  useEffect(() => setQuery({ type: ofType, key: ofKey }, { replace: true }), [wanted]);
  const events = useLoad(
    'events ' + topic + '\n' + wanted,
    () => get('v1/events', { topic, type: ofType, key: ofKey, order: 'newest', limit: 100 }, { exact: true }),
    { kinds: ['event'], every: 5000 },
  );
  const items = events.data ? events.data.items : [];
  return html`<${Card} title=${'Newest events of ' + topic} actions=${html`<a class="button" href="#/events">Close</a>`}>
    <div class="card-body form-row"><${Field} name="type" label="Type" value=${type} onInput=${setType} placeholder="order.*" /><${Field} name="key" label="Key" value=${key} onInput=${setKey} /></div>
    <${ErrorBox} error=${events.error} />
    ${
      !events.data
        ? !events.error && html`<${Skeleton} rows=${6} />`
        : items.length === 0
          ? html`<div class="note">No event ${wanted.trim() ? 'matches' : 'is kept'}.</div>`
          : html`<div class="table-wrap"><table><thead><tr><th>Type</th><th>Key</th><th class="c-narrow">Published</th><th class="c-mid">Data</th></tr></thead>
          <tbody>${items.map(
            (event) => html`<tr data-row><td><a class="main-link" href=${eventLink(event.id)}>${event.type}</a></td>
            <td>${event.key ?? html`<span class="quiet">none</span>`}</td>
            <td class="c-narrow"><${Time} at=${event.publishedAt} /></td>
            <td class="c-mid wide-cell"><div class="cut"><code>${brief(JSON.stringify(event.data ?? null))}</code></div></td></tr>`,
          )}</tbody></table></div>`
    }<//>`;
}

export function EventPage({ id }) {
  const event = useLoad('event ' + id, () => get('v1/events/' + enc(id), {}, { exact: true }), {
    kinds: ['run', 'event'],
    every: 5000,
  });
  const value = event.data;
  if (!value)
    return html`<${Head} title="Event" sub=${html`<code>${id}</code>`} />${event.error ? html`<${ErrorBox} error=${event.error} retry=${event.reload} />` : html`<${Card}><${Skeleton} /><//>`}`;
  return html`<${Head} title=${value.type} sub=${html`<${Id} value=${value.id} />`}><a class="button" href=${topicLink(value.topic)}>Topic</a><//>
    <div class="two"><div class="stack"><${Card} title="Deliveries"><${Deliveries} event=${value} /><//>
      <${Card} title="Data"><div class="card-body"><${Code} text=${pretty(value.data)} label="Data" /></div><//></div>
      <div class="stack"><${Card} title="Facts"><${Facts} items=${[
        ['Topic', html`<a href=${topicLink(value.topic)}>${value.topic}</a>`],
        ['Type', value.type],
        ['Key', value.key && html`<a href=${link('events', { topic: value.topic, key: value.key })}>${value.key}</a>`],
        ['Version', value.version],
        ['Published', html`<${Instant} at=${value.publishedAt} />`],
        ['Schedule', value.schedule && html`<a href=${scheduleLink(value.schedule)}>${value.schedule}</a>`],
        ['Planned', value.plannedAt && html`<${Instant} at=${value.plannedAt} />`],
        ...Object.entries(value.headers || {}).map(([name, text]) => ['Header ' + name, html`<code>${text}</code>`]),
      ]} /><//></div></div>`;
}

function Deliveries({ event }) {
  if (event.deliveries.length === 0)
    return html`<div class="note">No delivery. A subscription gets a run within about a second, unless it is paused, was created later, or its runs were removed by retention.</div>`;
  return html`<div class="table-wrap"><table><thead><tr><th>Subscription</th><th>State</th><th class="right c-narrow">Attempt</th><th class="c-narrow">Ended</th><th class="c-mid">Error</th></tr></thead>
    <tbody>${event.deliveries.map(
      (one) => html`<tr data-row><td><a class="main-link" href=${runLink(one.run)}>${one.subscription}</a></td>
      <td><${State} state=${one.state} /></td><td class="num-col c-narrow">${one.attempt}</td>
      <td class="c-narrow"><${Time} at=${one.endedAt} /></td>
      <td class="c-mid wide-cell"><div class="cut">${firstLine(one.lastError)}</div></td></tr>`,
    )}</tbody></table></div>${event.moreDeliveries && html`<div class="note">These are the first 200 deliveries.</div>`}`;
}

export function SubscriptionPage({ name }) {
  const path = 'v1/subscriptions/' + enc(name);
  const subscription = useLoad('subscription ' + name, () => get(path), {
    kinds: ['event', 'subscription'],
    every: 5000,
  });
  const value = subscription.data;
  if (!value)
    return html`<${Head} title=${name} />${subscription.error ? html`<${ErrorBox} error=${subscription.error} retry=${subscription.reload} />` : html`<${Card}><${Skeleton} /><//>`}`;
  const reload = subscription.reload;
  const resume = () =>
    act(async () => {
      await post(path + '/resume', {});
      reload();
    }, 'Resumed.');
  const pause = () =>
    confirmAction({
      title: 'Pause the subscription ' + name + '?',
      confirm: 'Pause',
      text: 'It gets no further runs, and keeps its place. Events are kept for it for up to twice their retention.',
      fields: [{ name: 'reason', label: 'Reason (optional)' }],
      run: async ({ reason }) => {
        await post(path + '/pause', reason ? { reason } : {});
        reload();
        toast('Paused.', 'good', { name: 'Undo', run: resume });
      },
    });
  const replay = () =>
    confirmAction({
      title: 'Deliver past events again?',
      confirm: 'Replay',
      text: 'Each event of this time gets a new run, beside the current ones.',
      fields: [
        { name: 'from', label: 'From', placeholder: '2026-03-01T00:00:00Z', required: true },
        { name: 'to', label: 'To', placeholder: '2026-03-02T00:00:00Z', required: true },
      ],
      run: async ({ from, to }) => {
        await post(path + '/replay', { from, to });
        reload();
        toast('The replay has begun.');
      },
    });
  const drop = () =>
    confirmAction({
      title: 'Delete the subscription ' + name + '?',
      tone: 'bad',
      confirm: 'Delete',
      text: 'Its runs stay. A process that declares it creates it again when it starts.',
      run: async () => {
        await remove(path);
        toast('Deleted.');
        go('/events');
      },
    });
  return html`<${Head} title=${name} sub=${patternOf(value)}>${can('read') && value.queue && html`<a class="button" href=${queueLink(value.queue)}>Queue</a>`}
    ${value.paused ? html`<${ActionButton} tone="main" icon="runs" onClick=${resume}>Resume<//>` : html`<${ActionButton} icon="paused" onClick=${pause}>Pause<//>`}<${ActionButton} icon="redo" onClick=${replay}>Replay<//><${ActionButton} tone="bad" onClick=${drop}>Delete<//><//>
    <div class="stack">${value.paused && html`<${Notice} icon="paused"><strong>Paused <${Time} at=${value.paused.at} />${value.paused.by ? ' by ' + value.paused.by : ''}.</strong> ${value.paused.reason || ''}<//>`}
      <${Card} title="Facts"><${Facts} items=${[
        ['State', html`<${SubscriptionState} subscription=${value} />`],
        ['Events without a run', count(value.lag.count, value.lag.more)],
        ['Oldest of them', value.lag.oldest && html`<${Time} at=${value.lag.oldest} />`],
        ['Replays in progress', value.replays || undefined],
        ['Topic', value.topic.endsWith('*') ? value.topic : html`<a href=${topicLink(value.topic)}>${value.topic}</a>`],
        ['Types', value.types.join(', ')],
        ['Order', value.inOrder ? 'events of one key one after the other' : 'none'],
        ['Receiver', html`<${Receiver} target=${value.target} />`],
        ['Form', value.target.mode],
        ['Queue', value.queue && html`<a href=${queueLink(value.queue)}>${value.queue}</a>`],
        ['Priority', value.priority],
        ['Defined by', value.owner === 'code' ? 'the code of an application' : 'a call or a request'],
        ['Created', html`<${Instant} at=${value.createdAt} />`],
        ['Version', value.version],
      ]} /><//></div>`;
}
