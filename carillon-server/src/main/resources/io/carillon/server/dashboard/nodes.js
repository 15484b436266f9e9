// The nodes of the installation.
import { get, inApplication, seesServer } from './api.js';
import { SHARED, useLoad } from './load.js';
import { Card, Command, Copy, Empty, ErrorBox, Head, Skeleton, State, Time } from './parts.js';
import { html } from './ui.js';

export function NodesPage() {
  const nodes = useLoad('nodes', (how) => get('v1/nodes', {}, how), { every: 5000, ...SHARED });
  const items = nodes.data ? nodes.data.items : [];
  return html`<${Head} title="Nodes" sub="Live nodes, and those that died within the last hour" />
    ${
      !seesServer() && nodes.error
        ? html`<${ErrorBox} error=${nodes.error} />`
        : html`<div class="stack"><${ErrorBox} error=${nodes.error} retry=${nodes.reload} />
    ${
      !nodes.data
        ? !nodes.error && html`<${Card}><${Skeleton} rows=${4} /><//>`
        : items.length === 0
          ? html`<${Card}><${Empty} icon="nodes" title="No node is alive"><p>Without a node nothing runs. Start one:</p>
            <${Command} text=${inApplication ? 'Carillon.on(dataSource).handle(…).start();' : 'carillon serve'} /><//><//>`
          : html`<${Card}><div class="table-wrap">
            <table>
            <thead><tr>
            <th>State</th>
            <th>Name</th>
            <th>Busy</th>
            <th class="c-mid">Host</th>
            <th class="c-wide">Version</th>
            <th>Heartbeat</th>
            <th class="c-mid">Started</th>
            <th class="c-wide">Wake-up</th>
            <th class="c-wide">Handlers</th>
            <th class="c-wide">Id</th></tr>
            </thead>
            <tbody>${items.map((node) => html`<tr data-row><td><${State} state=${node.alive ? 'succeeded' : 'dead'} text=${node.alive ? 'Alive' : 'Dead'} note=${node.deadWhy} />${node.deadWhy && html`<div class="under">${node.deadWhy}</div>`}</td>
            <td>${node.name || ''}</td>
            <td class="nowrap"><span class="num">${node.busy} of ${node.slots}</span><progress max=${Math.max(1, node.slots)} value=${node.busy} aria-label="Busy slots"></progress></td>
            <td class="c-mid">${node.host}${node.pid ? html`<div class="under">process ${node.pid}</div>` : ''}</td>
            <td class="c-wide">${node.version}</td>
            <td><${Time} at=${node.beatAt} /></td>
            <td class="c-mid"><${Time} at=${node.startedAt} /></td>
            <td class="c-wide">${node.wakeup}</td>
            <td class="c-wide">${(node.handlers || []).join(', ')}</td>
            <td class="c-wide"><span class="id"><code title=${node.id}>…${node.id.slice(-6)}</code><${Copy} text=${node.id} label=${'Copy ' + node.id} /></span></td></tr>`)}</tbody></table></div>
            <//>`
    }</div>`
    }`;
}
