// Bulk actions of the last 30 days.
import { enc, get } from './api.js';
import { BulkProgress } from './bulk-actions.js';
import { count } from './format.js';
import { useLoad } from './load.js';
import { Card, Empty, ErrorBox, Facts, Head, Id, Instant, More, Skeleton, State, Time } from './parts.js';
import { link, qualifier, runsLink } from './router.js';
import { html, useState } from './ui.js';

const filterText = ({ state, queue, handler }) =>
  [state && 'state:' + state, queue && qualifier('queue', queue), handler && qualifier('handler', handler)]
    .filter(Boolean)
    .join(' ');

export function BulkPage({ id }) {
  const [tail, setTail] = useState([]);
  const first = useLoad('bulk list', () => get('v1/bulk-actions', { limit: 50 }), { kinds: ['bulk'], every: 10000 });
  const items = first.data ? [...first.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : first.data && first.data.next;
  return html`<${Head} title="Bulk actions" sub="Of the last 30 days" /><div class="stack">${id && html`<${Detail} key=${id} id=${id} />`}<${ErrorBox} error=${first.error} retry=${first.reload} />
    ${
      !first.data
        ? !first.error && html`<${Card}><${Skeleton} /><//>`
        : items.length === 0
          ? html`<${Card}><${Empty} icon="bulk" title="No bulk actions yet"><p>Search for <a href="#/runs">runs</a> by state, queue or handler, select all rows, and choose "Select all that match".</p><//><//>`
          : html`<${Card}><div class="table-wrap">
            <table>
            <thead><tr>
            <th>State</th>
            <th>Action</th>
            <th>Runs</th>
            <th class="right">Done</th>
            <th class="c-mid">By</th>
            <th class="c-narrow">Created</th></tr>
            </thead>
            <tbody>${items.map((one) => html`<tr data-row><td><${State} state=${one.state} /></td>
            <td><a class="main-link" href=${link(['bulk', one.id])}>${one.action}</a></td>
            <td><a href=${runsLink(filterText(one.filter))}><code>${filterText(one.filter)}</code></a></td>
            <td class="num-col">${count(one.done)}</td>
            <td class="c-mid">${one.createdBy}</td>
            <td class="c-narrow"><${Time} at=${one.createdAt} /></td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/bulk-actions', { limit: 50, cursor: next })])} /><//>`
    }</div>`;
}

function Detail({ id }) {
  const { data, error } = useLoad('bulk ' + id, () => get('v1/bulk-actions/' + enc(id)), {
    kinds: ['bulk'],
    every: 2000,
  });
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!data) return html`<${Card}><${Skeleton} rows=${3} /><//>`;
  return html`<${BulkProgress} id=${id} /><${Card} title="Bulk action"><${Facts} items=${[
    ['Id', html`<${Id} value=${data.id} />`],
    ['Action', data.action],
    ['Runs', html`<a href=${runsLink(filterText(data.filter))}><code>${filterText(data.filter)}</code></a>`],
    ['Done', count(data.done)],
    ['By', data.createdBy],
    ['Created', html`<${Instant} at=${data.createdAt} />`],
    ['Ended', data.endedAt && html`<${Instant} at=${data.endedAt} />`],
    ['New due time', data.at && html`<${Instant} at=${data.at} />`],
    ['Reason', data.reason],
  ]} /><//>`;
}
