// The audit log: who changed what.
import { get, inApplication, sees } from './api.js';
import { pretty } from './format.js';
import { useLoad } from './load.js';
import { Card, Empty, ErrorBox, Field, Head, Instant, More, Notice, Skeleton } from './parts.js';
import { link, runLink, scheduleLink, queueLink, setQuery } from './router.js';
import { html, useEffect, useState } from './ui.js';

function objectLink(object) {
  const [kind, name] = (object || '').split(/\/(.*)/s);
  const make = {
    schedule: scheduleLink,
    run: runLink,
    queue: queueLink,
    endpoint: (one) => link(['endpoints', one]),
    bulk: (one) => link(['bulk', one]),
  }[kind];
  return make && name ? html`<a href=${make(name)}>${object}</a>` : object;
}

export function AuditPage({ query }) {
  const filter = {
    action: query.get('action') || '',
    actor: query.get('actor') || '',
    object: query.get('object') || '',
  };
  const [tail, setTail] = useState([]);
  const key = JSON.stringify(filter);
  const first = useLoad('audit ' + key, () => get('v1/audit', { ...filter, limit: 50 }), {
    every: 20000,
    kinds: ['schedule', 'queue', 'bulk', 'endpoint', 'key', 'member', 'project', 'session'],
  });
  useEffect(() => setTail([]), [key]);
  const items = first.data ? [...first.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : first.data && first.data.next;
  if (!sees('audit'))
    return html`<${Head} title="Audit" /><${Notice} tone="quiet">${inApplication ? 'Only operators see who changed what.' : 'The audit log needs the scope or role admin.'}<//>`;
  const field = (name, label, placeholder) =>
    html`<${Field} name=${name} label=${label} placeholder=${placeholder} value=${filter[name]} onInput=${(value) => setQuery({ [name]: value.trim() }, { replace: true })} />`;
  return html`<${Head} title="Audit" sub="Every change, with the key or user that made it" /><div class="stack">
    <${Card}><div class="form"><div class="form-row">${field('action', 'Action', 'schedule.pause')}${field('actor', 'Actor', 'key …')}${field('object', 'Object', 'schedule/nightly')}</div></div>
    <//>
    <${ErrorBox} error=${first.error} retry=${first.reload} />
    ${
      !first.data
        ? !first.error && html`<${Card}><${Skeleton} rows=${10} /><//>`
        : items.length === 0
          ? html`<${Card}><${Empty} icon="audit" title="No entry matches">The filters compare the whole text of action, actor and object. <a href="#/audit">Show all</a><//><//>`
          : html`<${Card}><div class="table-wrap">
            <table>
            <thead><tr>
            <th>Time</th>
            <th>Action</th>
            <th class="c-narrow">Object</th>
            <th class="c-mid">Actor</th>
            <th class="c-wide">Detail</th></tr>
            </thead>
            <tbody>${items.map((entry) => html`<tr data-row><td><${Instant} at=${entry.at} /></td>
            <td>${entry.action}<div class="under">${entry.requestId !== 'none' && html`<code title=${entry.requestId}>…${entry.requestId.slice(-6)}</code>`}</div></td>
            <td class="c-narrow">${objectLink(entry.object)}</td>
            <td class="c-mid"><a href=${link('audit', { actor: entry.actor })}>${entry.actorName || entry.actor}</a>${entry.actorName && html`<div class="under">${entry.actor}</div>`}</td>
            <td class="c-wide"><${Detail} detail=${entry.detail} /></td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/audit', { ...filter, limit: 50, cursor: next })])} /><//>`
    }</div>`;
}

function Detail({ detail }) {
  const entries = Object.entries(detail || {});
  if (entries.length === 0) return html`<span class="quiet">–</span>`;
  return entries.map(
    ([name, value]) =>
      html`<div><span class="quiet">${name}</span> ${typeof value === 'string' ? value : pretty(value)}</div>`,
  );
}
