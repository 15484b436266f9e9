// Calls the REST API with the session of this browser. All URLs are relative to the page, so that any path prefix works.
import { createStore, saveSetting, setting } from './ui.js';

/** Whether an application shows the dashboard: it knows its users, and has no keys, projects and endpoints. */
export const inApplication = document.documentElement.hasAttribute('data-application');
/** The caller: {project, scopes, actor, readOnly, user, projects}; null before the login. */
export const session = createStore(undefined);
/** Why the login page is shown: a text, or ''. */
export const loginNotice = createStore('');
/** Whether the server answered the last request. */
export const reachable = createStore(true);
/** Milliseconds that the clock of the server is ahead of the clock of this machine. */
let clockOffset = 0;

export const serverNow = () => Date.now() + clockOffset;

/** A refused request. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || 'The server answered with status ' + status + '.');
    this.status = status;
    this.code = problem.code || '';
    this.errors = problem.errors || [];
    this.requestId = problem.requestId || '';
  }
}

/** The project of this tab, for users who have several: two tabs may show two projects. */
let tabProject = '';
try {
  tabProject = sessionStorage.getItem('carillon project') || '';
} catch {
  // Without storage, a tab shows the project that was chosen last.
}

function chooseProject(name) {
  tabProject = name;
  saveSetting('project', name);
  try {
    sessionStorage.setItem('carillon project', name);
  } catch {
    // As above.
  }
}

/** Shows another project in this tab. */
export function switchProject(name) {
  chooseProject(name);
  location.hash = '#/';
  location.reload();
}

function path(name, query) {
  const parts = Object.entries(query || {}).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  if (parts.length === 0) return name;
  return name + '?' + new URLSearchParams(parts.map(([key, value]) => [key, String(value)])).toString();
}

function noteClock(response) {
  const date = Date.parse(response.headers.get('Date') || '');
  if (!Number.isFinite(date)) return;
  const offset = date + 500 - Date.now();
  clockOffset = Math.abs(offset) > 2000 ? offset : 0;
}

/** Keeps numbers that a double cannot hold, such as large ids in payloads. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }

  toJSON() {
    return Number(this.text);
  }
}

function keepExact(key, value, context) {
  if (typeof value !== 'number' || !context || context.source === undefined) return value;
  return String(value) === context.source || Number(context.source) === 0 ? value : new ExactNumber(context.source);
}

/** Parses JSON without rounding numbers. */
export const parseExact = (text) => JSON.parse(text, keepExact);

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

/** How old an answer for several open pages may be. */
export const SHARED_SECONDS = 5;

/** The last action of the user in this tab. What an open page reads by itself does not keep the session from ending. */
let usedAt = Date.now();
for (const action of ['pointerdown', 'keydown', 'wheel'])
  addEventListener(action, () => (usedAt = Date.now()), { capture: true, passive: true });
const IDLE_MS = 60000;

/** Sends a request; the body is an object, or JSON text. Throws an ApiError. */
export async function call(method, name, { query, body, headers = {}, exact, shared, signal, raw } = {}) {
  const init = { method, headers: { ...headers }, signal, credentials: 'same-origin', cache: 'no-store' };
  // Many open pages read the same: the server may give them an answer of a moment ago.
  if (shared) init.headers['Cache-Control'] = 'max-age=' + SHARED_SECONDS;
  if (method !== 'GET') init.headers['X-Carillon-CSRF'] = '1';
  else if (Date.now() - usedAt > IDLE_MS) init.headers['X-Carillon-Refresh'] = '1';
  if (tabProject) init.headers['X-Carillon-Project'] = tabProject;
  if (body !== undefined) {
    init.headers['Content-Type'] = 'application/json';
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path(name, query), init);
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    reachable.set(false);
    throw new ApiError(0, { detail: 'The server cannot be reached. The page tries again by itself.' });
  }
  noteClock(response);
  reachable.set(response.status !== 502 && response.status !== 504);
  if (raw) return response;
  if (response.status === 401) {
    const problem = await problemOf(response);
    if (session.get())
      loginNotice.set(
        session.get().user
          ? 'Your session has ended: it was revoked, was not used for two hours, or 12 hours have passed. Log in again to continue where you were.'
          : 'Your session has ended: its key expired or was revoked, or 12 hours have passed. Log in again to continue where you were.',
      );
    if (!headers.Authorization) session.set(null);
    throw new ApiError(401, problem);
  }
  if (!response.ok) {
    const problem = await problemOf(response);
    if (response.status === 403 && session.get() && session.get().user && name !== 'v1/session') recheck();
    throw new ApiError(response.status, problem);
  }
  if (response.status === 204) return null;
  if (exact) return parseExact(await response.text());
  const value = await response.json().catch(() => {
    // An application may answer with its own login page.
    if (inApplication) session.set(null);
    throw new ApiError(response.status, { detail: 'The answer is not from the dashboard. Reload the page.' });
  });
  return name.startsWith('v1/schedules/') && response.headers.get('ETag') && value
    ? Object.defineProperty(value, 'etag', { value: response.headers.get('ETag'), enumerable: false })
    : value;
}

export const get = (name, query, options) => call('GET', name, { query, ...options });
export const post = (name, body, options) => call('POST', name, { body, ...options });
export const put = (name, body, options) => call('PUT', name, { body, ...options });
export const remove = (name, options) => call('DELETE', name, options);
export const enc = encodeURIComponent;

const INCLUDED = {
  read: ['read', 'manage', 'admin'],
  enqueue: ['enqueue', 'manage', 'admin'],
  manage: ['manage', 'admin'],
  admin: ['admin'],
};

export const isReadOnly = () => Boolean(session.get() && session.get().readOnly);

/** Whether the session has this permission. A read-only server allows no changes. */
export function can(permission) {
  const caller = session.get();
  if (isReadOnly() && permission !== 'read' && permission !== 'admin') return false;
  return Boolean(caller) && INCLUDED[permission].some((scope) => caller.scopes.includes(scope));
}

export const isServerAdmin = () => can('admin') && session.get().project === 'default';

/** Whether the session may see what concerns all projects: the health and the nodes. */
export const seesServer = () => (inApplication ? can('read') : isServerAdmin());

/** Whether a page exists for the session. */
export function sees(page) {
  if (page === 'nodes') return seesServer();
  if (page === 'audit') return can(inApplication ? 'manage' : 'admin');
  return !inApplication || !['endpoints', 'events'].includes(page);
}

/** A browser that has not logged in need not ask. */
export async function loadSession({ always = false } = {}) {
  if (!always && !inApplication && setting('session', '') !== 'yes') return session.set(null);
  try {
    let caller = await get('v1/session');
    // A tab whose project is gone does not show another one by itself: its page would act there.
    if (caller.user && !caller.project && !tabProject && caller.projects.length > 0) {
      const last = setting('project', '');
      chooseProject((caller.projects.find((one) => one.name === last) || caller.projects[0]).name);
      caller = await get('v1/session');
    }
    session.set(caller);
    saveSetting('session', 'yes');
  } catch (failure) {
    if (failure.status !== 401) throw failure;
    session.set(null);
    saveSetting('session', 'no');
  }
  return session.get();
}

let checkedAt = 0;

/** Reads the role of the user again, which may have changed. */
export function recheck() {
  if (Date.now() - checkedAt < 3000) return;
  checkedAt = Date.now();
  loadSession({ always: true }).catch(() => {});
}

export async function logIn(key) {
  await call('POST', 'v1/session', { headers: { Authorization: 'Bearer ' + key } });
  loginNotice.set('');
  await loadSession({ always: true });
}

export async function redeem(token) {
  await post('v1/session:redeem', { token });
  loginNotice.set('');
  await loadSession({ always: true });
}

export async function logOut() {
  try {
    await remove('v1/session');
  } finally {
    session.set(null);
    saveSetting('session', 'no');
    loginNotice.set('You have logged out.');
  }
}
