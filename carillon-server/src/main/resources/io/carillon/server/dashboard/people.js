// Users: the login with an identity provider, the project of the tab, members of the project, and own sessions.
import { call, enc, get, isReadOnly, loginNotice, logOut, post, put, session, switchProject } from './api.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Button,
  Card,
  Command,
  confirmAction,
  Empty,
  ErrorBox,
  Id,
  More,
  Notice,
  Skeleton,
  State,
  Time,
  toast,
} from './parts.js';
import { html, saveSetting, useEffect, useState, useStore } from './ui.js';

/** The name of the identity provider; '' if users log in with keys only. */
export const provider = document.documentElement.dataset.provider || '';

const RETURN = 'carillon return';

/** Keeps the page that the user wants to see, while the browser is at the provider. */
export function keepReturn() {
  saveSetting('session', 'yes');
  try {
    sessionStorage.setItem(RETURN, location.hash);
  } catch {
    // Without storage, the user comes back to the first page.
  }
}

export function returnAfterLogin(caller) {
  try {
    const wanted = sessionStorage.getItem(RETURN);
    sessionStorage.removeItem(RETURN);
    if (caller && wanted && wanted.startsWith('#/') && !location.hash) location.replace(wanted);
  } catch {
    // As above.
  }
}

const FAILURES = {
  'access-denied': 'The identity provider did not let you in, or you cancelled the login.',
  'login-expired':
    'This login did not begin in this browser, took longer than ten minutes, or was completed before. Log in again, from the address that you use for this server.',
  'provider-unreachable': 'The identity provider does not answer. Try again in a moment; a key works without it.',
  'provider-refused':
    'The identity provider refused the request of this server. An operator finds the reason in the log of the server.',
  'token-invalid':
    'The identity provider answered with a token that is not valid for this login. An operator finds the reason in the log of the server.',
  busy: 'Too many logins are in progress. Try again in a moment.',
};

export function failedLogin(reason, requestId) {
  history.replaceState(history.state, '', '#/');
  const text = Object.hasOwn(FAILURES, reason) ? FAILURES[reason] : 'The login failed. Try again.';
  if (!session.get()) loginNotice.set(text + (/^[\w.-]{1,100}$/.test(requestId || '') ? ' Request ' + requestId : ''));
}

/** The role of the user in the project of the tab. */
export const roleOf = (caller) => ((caller.projects || []).find((one) => one.name === caller.project) || {}).role || '';

export function ProjectSwitch() {
  const caller = useStore(session);
  if (!caller || !caller.projects || caller.projects.length < 2) return null;
  return html`<select class="project-switch" aria-label="Project" onChange=${(event) => switchProject(event.target.value)}>${caller.projects.map((one) => html`<option value=${one.name} selected=${one.name === caller.project}>${one.name}</option>`)}</select>`;
}

export function ReadOnlyBanner() {
  useStore(session);
  return isReadOnly()
    ? html`<div class="banner tone-warn" role="status">This server is read-only: it refuses every change.</div>`
    : null;
}

/** What a user without a project sees: the id that an admin needs. */
export function NoProject() {
  const caller = useStore(session);
  useEffect(() => {
    document.title = 'No project · Carillon';
  }, []);
  const again = () => location.reload();
  if (caller.projects.length > 0)
    return html`<main id="main" class="login"><div class="card">
      <h1 id="page-title" tabindex="-1">You are not a member of this project any more</h1>
      <p>Choose another project:</p>
      <div class="actions">${caller.projects.map((one) => html`<${Button} onClick=${() => switchProject(one.name)}>${one.name}<//>`)}</div>
      <div class="actions"><${Button} onClick=${() => act(logOut)} icon="out">Log out<//></div>
    </div></main>`;
  return html`<main id="main" class="login"><div class="card">
    <h1 id="page-title" tabindex="-1">You are not a member of any project</h1>
    <p>You are logged in as <strong>${caller.user.name || caller.user.subject}</strong>. Give this id to an admin of a project:</p>
    <${Id} value=${caller.user.id} />
    <p>The admin adds you in Settings, Members, or with the command:</p>
    <${Command} text=${'carillon member add --user ' + caller.user.id + ' --role operator'} />
    <div class="actions"><${Button} onClick=${again} icon="redo" tone="main">Try again<//><${Button} onClick=${() => act(logOut)} icon="out">Log out<//></div>
  </div></main>`;
}

const ROLES = [
  ['viewer', 'Viewer: sees everything but keys, members and the audit log'],
  ['operator', 'Operator: also changes schedules, runs, queues and endpoints'],
  ['admin', 'Admin: also manages keys and members'],
];
const shown = (member) => member.name || member.subject;

export function Members() {
  const caller = useStore(session);
  const [tail, setTail] = useState([]);
  const members = useLoad('members', () => get('v1/members', { limit: 100 }), { kinds: ['member'], every: 30000 });
  const items = members.data ? [...members.data.items, ...tail.flatMap((page) => page.items)] : [];
  const next = tail.length ? tail[tail.length - 1].next : members.data && members.data.next;
  const reload = () => {
    setTail([]);
    members.reload();
  };
  const add = () =>
    confirmAction({
      title: 'Add a member',
      confirm: 'Add member',
      text: 'Users see their id after their first login. By the subject at the identity provider, you can add a user who has not logged in yet.',
      fields: [
        { name: 'user', label: 'Id or subject', required: true, autofocus: true, placeholder: 'usr_…' },
        { name: 'role', label: 'Role', value: 'viewer', options: ROLES.map(([value, name]) => ({ value, name })) },
      ],
      run: async ({ user, role = 'viewer' }) => {
        const text = (user || '').trim();
        const added = await post('v1/members', { role, [text.startsWith('usr_') ? 'user' : 'subject']: text });
        toast(shown(added) + ' is a member now.');
        reload();
      },
    });
  const change = (member) =>
    confirmAction({
      title: 'Change the role of ' + shown(member),
      confirm: 'Change role',
      fields: [
        { name: 'role', label: 'Role', value: member.role, options: ROLES.map(([value, name]) => ({ value, name })) },
      ],
      run: async ({ role = member.role }) => {
        await put('v1/members/' + enc(member.id), { role });
        toast('Changed. All nodes apply it within a few seconds.');
        reload();
      },
    });
  const own = (member) =>
    confirmAction({
      title: 'Give the project to ' + shown(member) + '?',
      confirm: 'Give project',
      text: 'The owner is an admin and cannot be removed. There is one owner.',
      run: async () => {
        await put('v1/projects/' + enc(caller.project) + '/settings', { owner: member.id });
        toast(shown(member) + ' owns the project now.');
        reload();
      },
    });
  const drop = (member) =>
    confirmAction({
      title: 'Remove ' + shown(member) + '?',
      tone: 'bad',
      confirm: 'Remove member',
      text: 'The user loses access to the project within a few seconds. Keys that the user created stay valid: check them in API keys.',
      run: async () => {
        await call('DELETE', 'v1/members/' + enc(member.id));
        toast('Removed.');
        reload();
      },
    });
  return html`<div class="stack">
    ${!provider && html`<${Notice} tone="quiet" icon="waiting">Members log in with an identity provider, and this server has none. See the settings that begin with <code>oidc.</code><//>`}
    <${ErrorBox} error=${members.error} retry=${members.reload} /><${Card} title="Members" actions=${html`<${ActionButton} needs="admin" icon="plus" tone="main" onClick=${add}>Add member<//>`}>${
      !members.data
        ? !members.error && html`<${Skeleton} />`
        : items.length === 0
          ? html`<${Empty} icon="settings" title="No members">Users of the identity provider who may access this project. Add the first one, or use keys.<//>`
          : html`<div class="table-wrap">
            <table>
            <thead><tr>
            <th>Name</th>
            <th>Role</th>
            <th class="c-mid">Subject</th>
            <th class="c-mid">Last login</th>
            <th class="c-wide">Added</th>
            <th><span class="offscreen">Actions</span></th></tr>
            </thead>
            <tbody>${items.map((member) => html`<tr data-row><td>${shown(member)}${caller.user && caller.user.id === member.id && html` <span class="quiet">(you)</span>`}<div class="under">${member.email}</div></td>
            <td>${member.role}</td>
            <td class="c-mid"><code>${member.subject}</code><div class="under"><code>${member.id}</code></div></td>
            <td class="c-mid"><${Time} at=${member.loginAt} none="not yet" /></td>
            <td class="c-wide"><${Time} at=${member.addedAt} /><div class="under">${member.addedBy}</div></td>
            <td class="right"><div class="row"><${ActionButton} needs="admin" onClick=${() => change(member)}>Role<//>
            <${ActionButton} needs="admin" onClick=${() => own(member)}>Make owner<//>
            <${ActionButton} needs="admin" tone="bad" onClick=${() => drop(member)}>Remove<//></div></td></tr>`)}</tbody></table></div><${More} next=${next} load=${async () => setTail([...tail, await get('v1/members', { limit: 100, cursor: next })])} />`
    }<//></div>`;
}

export function MySessions() {
  const sessions = useLoad('sessions', () => get('v1/sessions'), { every: 30000 });
  const revoke = (one) =>
    confirmAction({
      title: one.current ? 'Log out here?' : 'End this session?',
      tone: 'bad',
      confirm: one.current ? 'Log out' : 'End session',
      text: one.current
        ? 'This is the session of this browser.'
        : 'The browser of this session is logged out within a few seconds.',
      run: async () => {
        if (one.current) return logOut();
        await call('DELETE', 'v1/sessions/' + enc(one.id));
        toast('Ended.');
        return sessions.reload();
      },
    });
  return html`<div class="stack"><${ErrorBox} error=${sessions.error} retry=${sessions.reload} /><${Card} title="Your sessions">${
    !sessions.data
      ? !sessions.error && html`<${Skeleton} rows=${3} />`
      : html`<div class="table-wrap">
        <table>
        <thead><tr>
        <th>Browser</th>
        <th class="c-narrow">Address</th>
        <th>Used</th>
        <th class="c-mid">Logged in</th>
        <th class="c-mid">Ends</th>
        <th><span class="offscreen">Actions</span></th></tr>
        </thead>
        <tbody>${sessions.data.items.map((one) => html`<tr data-row><td>${one.browser || 'unknown'}${one.current && html`<div class="under"><${State} state="succeeded" text="This browser" /></div>`}</td>
        <td class="c-narrow">${one.address}</td>
        <td><${Time} at=${one.usedAt} /></td>
        <td class="c-mid"><${Time} at=${one.createdAt} /></td>
        <td class="c-mid"><${Time} at=${one.expiresAt} /></td>
        <td class="right"><${Button} tone="bad" onClick=${() => revoke(one)}>${one.current ? 'Log out' : 'End'}<//></td></tr>`)}</tbody></table></div>`
  }<//></div>`;
}
