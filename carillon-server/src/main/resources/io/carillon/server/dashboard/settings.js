// Display, API keys and projects. Members and sessions are in people.js.
import { can, call, enc, get, inApplication, isReadOnly, isServerAdmin, post, put, session } from './api.js';
import { localZone } from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Button,
  Card,
  Code,
  confirmAction,
  Empty,
  ErrorBox,
  Facts,
  Field,
  Head,
  Id,
  Instant,
  More,
  openDialog,
  Skeleton,
  State,
  Tabs,
  Time,
  toast,
} from './parts.js';
import { Members, MySessions, roleOf } from './people.js';
import { html, useState, useStore } from './ui.js';
import { ThemeSwitch, ZoneSwitch } from './shell.js';

export function SettingsPage({ part }) {
  const items = [
    ['display', 'Display'],
    ...(can('admin')
      ? [
          ['keys', 'API keys'],
          ['members', 'Members'],
          ['project', 'Project'],
        ]
      : []),
    ...(session.get().user ? [['sessions', 'Sessions']] : []),
    ...(isServerAdmin() ? [['projects', 'All projects']] : []),
  ].map(([key, name]) => ({ key, name, href: '#/settings/' + key }));
  const pages = {
    display: Display,
    keys: Keys,
    members: Members,
    project: ProjectPart,
    sessions: MySessions,
    projects: Projects,
  };
  return html`<${Head} title="Settings" /><${Tabs} items=${items} current=${part} label="Settings" /><${pages[part] || Display} />`;
}

function Display() {
  const caller = useStore(session);
  return html`<div class="stack">
    <${Card} title="This browser"><div class="form"><div class="form-row"><div class="field"><span class="label">Theme</span><${ThemeSwitch} /></div>
    <div class="field"><span class="label">Absolute times</span><${ZoneSwitch} /><div class="help">Your zone is ${localZone}.</div></div></div></div>
    <//>
    <${Card} title="This session"><${Facts} items=${[
      ['Project', caller.project],
      ...(caller.user
        ? [
            ['Name', caller.user.name],
            ['E-mail', caller.user.email],
            ['Role', roleOf(caller)],
            ['Your id', html`<${Id} value=${caller.user.id} />`],
            ['Subject', html`<code>${caller.user.subject}</code>`],
            ['Provider', html`<code>${caller.user.issuer}</code>`],
          ]
        : [['Actor', html`<code>${caller.actor}</code>`]]),
      ['Scopes', caller.scopes.join(', ')],
      !inApplication && [
        caller.user ? 'The session ends' : 'The key ends',
        caller.expiresAt ? html`<${Time} at=${caller.expiresAt} both />` : 'never',
      ],
    ].filter(Boolean)} /><div class="note">${inApplication ? 'The application decides who sees and changes what.' : caller.user ? 'A session ends after two hours without use, and after 12 hours.' : 'A session ends after 12 hours at the latest, and with its key.'}</div><//></div>`;
}

const SCOPES = ['read', 'enqueue', 'manage', 'admin'];

function showKey(made) {
  openDialog(
    'The new key',
    () =>
      html`<div class="stack">
        <p>Copy the key now. It is shown only once; the server stores a hash.</p>
        <${Code} text=${made.key} label="Key" /></div>`,
  );
}

function createKey(reload) {
  openDialog('New API key', function New({ close }) {
    const [name, setName] = useState('');
    const [scopes, setScopes] = useState(['read']);
    const [expires, setExpires] = useState('');
    const [error, setError] = useState(null);
    const submit = async (event) => {
      event.preventDefault();
      try {
        const made = await post('v1/keys', {
          name: name.trim(),
          scopes,
          ...(expires && { expiresAt: new Date(expires).toISOString() }),
        });
        close();
        reload();
        showKey(made);
      } catch (failure) {
        setError(failure);
      }
    };
    return html`<form onSubmit=${submit}><${Field} name="key-name" label="Name" value=${name} onInput=${setName} required autofocus placeholder="ann, or billing-service" /><fieldset class="field"><legend class="label">Scopes</legend>${SCOPES.map((scope) => html`<label class="check"><input type="checkbox" checked=${scopes.includes(scope)} onClick=${() => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])} />${scope}</label>`)}<div class="help">manage includes read and enqueue; admin includes all.</div></fieldset>
      <${Field} name="expires" label="Expires (optional)" type="datetime-local" value=${expires} onInput=${setExpires} help=${'In your time zone, ' + localZone} /><${ErrorBox} error=${error} /><div class="dialog-actions"><${Button} onClick=${close}>Back<//><button class="button button-main" type="submit" disabled=${scopes.length === 0}>Create key</button></div></form>`;
  });
}

function keyState(key) {
  if (key.revokedAt) return html`<${State} state="cancelled" text="Revoked" />`;
  if (key.expiresAt && Date.parse(key.expiresAt) < Date.now())
    return html`<${State} state="cancelled" text="Expired" />`;
  return html`<${State} state="succeeded" text="Valid" />`;
}

function Keys() {
  const [tail, setTail] = useState([]);
  const keys = useLoad('keys', () => get('v1/keys', { limit: 100 }), { kinds: ['key'], every: 30000 });
  const items = keys.data ? [...keys.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : keys.data && keys.data.next;
  const revoke = (key) =>
    confirmAction({
      title: 'Revoke the key ' + key.name + '?',
      tone: 'bad',
      confirm: 'Revoke key',
      text: 'All nodes reject it within five seconds, and its sessions end. This cannot be undone.',
      run: async () => {
        await call('DELETE', 'v1/keys/' + enc(key.id));
        toast('Revoked.');
        keys.reload();
      },
    });
  const rotate = (key) =>
    confirmAction({
      title: 'Rotate the key ' + key.name + '?',
      confirm: 'Rotate',
      text: 'A new key with the same name and limits is created. The old one stays valid for a day.',
      run: async () => {
        const made = await post('v1/keys/' + enc(key.id) + '/rotate', { overlap: '1d' });
        keys.reload();
        setTimeout(() => showKey(made));
      },
    });
  return html`<div class="stack">
    <${ErrorBox} error=${keys.error} retry=${keys.reload} /><${Card} title="API keys" actions=${html`<${ActionButton} needs="admin" icon="plus" tone="main" onClick=${() => createKey(keys.reload)}>New key<//>`}>${
    !keys.data
      ? html`<${Skeleton} />`
      : items.length === 0
        ? html`<${Empty} icon="settings" title="No keys" />`
        : html`<div class="table-wrap">
          <table>
          <thead><tr>
          <th>State</th>
          <th>Name</th>
          <th class="c-narrow">Scopes</th>
          <th class="c-mid">Used</th>
          <th class="c-wide">Created</th>
          <th class="c-mid">Expires</th>
          <th class="c-wide">Restricted to</th>
          <th><span class="offscreen">Actions</span></th></tr>
          </thead>
          <tbody>${items.map((key) => html`<tr data-row><td>${keyState(key)}</td>
          <td>${key.name}${key.bootstrap && html` <span class="quiet">(first start)</span>`}<div class="under"><code>${key.id}</code></div></td>
          <td class="c-narrow">${key.scopes.join(', ')}</td>
          <td class="c-mid"><${Time} at=${key.usedAt} none="never" /></td>
          <td class="c-wide"><${Time} at=${key.createdAt} /><div class="under">${key.createdBy}</div></td>
          <td class="c-mid"><${Time} at=${key.expiresAt} none="never" /></td>
          <td class="c-wide">${[...(key.queues || []), ...(key.handlers || []), ...(key.endpoints || []), ...(key.addresses || [])].join(', ') || html`<span class="quiet">–</span>`}</td>
          <td class="right">${!key.revokedAt && html`<div class="row"><${ActionButton} needs="admin" onClick=${() => rotate(key)}>Rotate<//>
          <${ActionButton} needs="admin" tone="bad" onClick=${() => revoke(key)}>Revoke<//></div>`}</td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/keys', { limit: 100, cursor: next })])} />`
  }<//></div>`;
}

const QUOTAS = {
  requestsPerSecond: 'Requests per second',
  maxSchedules: 'Schedules',
  maxWaiting: 'Waiting and running runs',
  maxBulkActions: 'Bulk actions at a time',
  maxStreams: 'Event streams',
  maxEndpoints: 'Endpoints',
  maxSubscriptions: 'Subscriptions',
};

function ProjectPart() {
  const name = session.get().project;
  const project = useLoad('project ' + name, () => get('v1/projects/' + enc(name)), { kinds: ['project'] });
  const value = project.data;
  const toggle = () =>
    act(async () => {
      await put('v1/projects/' + enc(name) + '/settings', { allowAdHocUrls: !value.allowAdHocUrls });
      project.reload();
    }, 'Saved.');
  if (!value)
    return project.error ? html`<${ErrorBox} error=${project.error} />` : html`<${Card}><${Skeleton} rows=${4} /><//>`;
  return html`<div class="stack"><${Card} title="Project"><${Facts} items=${[
    ['Name', value.name],
    ['Id', html`<${Id} value=${value.id} />`],
    ['Owner', value.owner && html`${value.ownerName} <${Id} value=${value.owner} />`],
    ['Created', html`<${Instant} at=${value.createdAt} />`],
  ]} /><div class="card-body"><label class="check"><input type="checkbox" checked=${value.allowAdHocUrls} disabled=${isReadOnly()} onClick=${toggle} />Webhooks may name any URL, not only endpoints</label></div>
    <//>
    <${Card} title="Quota"><${Facts} items=${Object.entries(QUOTAS).map(([key, label]) => [label, value.quota && value.quota[key] !== undefined && value.quota[key] !== null ? value.quota[key] : 'default of the server'])} /><//></div>`;
}

function Projects() {
  const [tail, setTail] = useState([]);
  const projects = useLoad('projects', () => get('v1/projects', { limit: 100 }), { kinds: ['project'] });
  const items = projects.data ? [...projects.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : projects.data && projects.data.next;
  const create = () =>
    confirmAction({
      title: 'New project',
      confirm: 'Create project',
      text: 'A project has its own schedules, runs, queues, endpoints and keys. Its first key is shown once.',
      fields: [
        { name: 'name', label: 'Name', required: true, placeholder: 'acme' },
        {
          name: 'owner',
          label: 'Owner (optional)',
          placeholder: 'usr_…',
          help: 'The id of the user who becomes its first admin.' + (session.get().user ? ' Without it, you are.' : ''),
        },
      ],
      run: async ({ name, owner }) => {
        const made = await post('v1/projects', {
          name: (name || '').trim(),
          ...(owner && owner.trim() && { owner: owner.trim() }),
        });
        projects.reload();
        setTimeout(() => showKey(made));
      },
    });
  return html`<div class="stack">
    <${ErrorBox} error=${projects.error} retry=${projects.reload} /><${Card} title="All projects" actions=${html`<${ActionButton} needs="admin" icon="plus" tone="main" onClick=${create}>New project<//>`}>${!projects.data ? html`<${Skeleton} />` : html`<div class="table-wrap">
    <table>
    <thead><tr>
    <th>Name</th>
    <th class="c-narrow">Owner</th>
    <th>Created</th>
    <th class="c-mid">Webhooks to any URL</th></tr>
    </thead>
    <tbody>${items.map((one) => html`<tr data-row><td>${one.name}</td>
    <td class="c-narrow">${one.ownerName || html`<span class="quiet">–</span>`}</td>
    <td><${Time} at=${one.createdAt} /></td>
    <td class="c-mid">${one.allowAdHocUrls ? 'yes' : 'no'}</td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/projects', { limit: 100, cursor: next })])} />`}<//></div>`;
}
