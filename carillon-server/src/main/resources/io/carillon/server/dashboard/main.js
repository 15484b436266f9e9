// Starts the dashboard: session, shell, pages.
import { inApplication, loadSession, loginNotice, redeem, session, reachable } from './api.js';
import { startKeys } from './keys.js';
import { startLive, stopLive } from './live.js';
import { Login } from './login.js';
import { announce, Button, ErrorBox, Dialogs, Head, Empty, Toasts } from './parts.js';
import { restoreScroll, route, startRouter } from './router.js';
import { Side } from './shell.js';
import { html, render, useEffect, useErrorBoundary, useState, useStore } from './ui.js';
import { AuditPage } from './audit.js';
import { BulkPage } from './bulk.js';
import { DeadPage } from './dead.js';
import { EndpointPage, EndpointsPage } from './endpoints.js';
import { EventPage, EventsPage, SubscriptionPage } from './events.js';
import { HomePage } from './home.js';
import { NodesPage } from './nodes.js';
import { failedLogin, NoProject, ReadOnlyBanner, returnAfterLogin } from './people.js';
import { QueuesPage } from './queues.js';
import { RunPage } from './run.js';
import { RunsPage } from './runs.js';
import { ScheduleFormPage } from './schedule-form.js';
import { SchedulePage } from './schedule.js';
import { SchedulesPage } from './schedules.js';
import { SettingsPage } from './settings.js';
import { TimelinePage } from './timeline.js';

function NotFound() {
  return html`<${Head} title="Page not found" /><div class="card"><${Empty} icon="search" title="There is no such page">Choose a page in the menu, or press <kbd>Ctrl</kbd> <kbd>K</kbd> to search. <a href="#/">Home</a><//></div>`;
}

function pageOf({ parts, query }) {
  const [first = '', second, third] = parts;
  if (first === '') return html`<${HomePage} />`;
  if (first === 'schedules' && second === undefined) return html`<${SchedulesPage} query=${query} />`;
  if (first === 'schedules' && second === 'new' && third === undefined) return html`<${ScheduleFormPage} key="new" />`;
  if (first === 'schedules' && third === 'edit')
    return html`<${ScheduleFormPage} key=${'edit ' + second} name=${second} />`;
  if (first === 'schedules' && third === undefined)
    return html`<${SchedulePage} key=${second} name=${second} query=${query} />`;
  if (first === 'timeline') return html`<${TimelinePage} query=${query} />`;
  if (first === 'runs' && second === undefined) return html`<${RunsPage} query=${query} />`;
  if (first === 'runs' && third === undefined) return html`<${RunPage} key=${second} id=${second} />`;
  if (first === 'queues') return html`<${QueuesPage} query=${query} />`;
  if (first === 'endpoints' && second === undefined) return html`<${EndpointsPage} query=${query} />`;
  if (first === 'endpoints') return html`<${EndpointPage} key=${second} name=${second} />`;
  if (first === 'events' && second === undefined) return html`<${EventsPage} query=${query} />`;
  if (first === 'events') return html`<${EventPage} key=${second} id=${second} />`;
  if (first === 'subscriptions' && second !== undefined)
    return html`<${SubscriptionPage} key=${second} name=${second} />`;
  if (first === 'dead') return html`<${DeadPage} query=${query} />`;
  if (first === 'nodes') return html`<${NodesPage} />`;
  if (first === 'bulk') return html`<${BulkPage} id=${second} />`;
  if (first === 'audit') return html`<${AuditPage} query=${query} />`;
  if (first === 'settings') return html`<${SettingsPage} part=${second || 'display'} />`;
  return html`<${NotFound} />`;
}

/** A page that fails shows its error, and the menu stays usable. */
function Page() {
  const current = useStore(route);
  const [failure, reset] = useErrorBoundary((error) => console.error(error));
  const path = current.parts.join('/');
  useEffect(() => {
    reset();
    restoreScroll();
    // The focus goes to the new page, unless the page or the menu has it.
    if (document.activeElement === document.body) document.getElementById('page-title')?.focus({ preventScroll: true });
    announce(document.title);
  }, [path]);
  if (failure)
    return html`<${Head} title="This page failed" /><${ErrorBox} error=${{ message: String(failure.message || failure) }} retry=${reset} />`;
  return pageOf(current);
}

function App() {
  const caller = useStore(session);
  const current = useStore(route);
  const [failure, setFailure] = useState(null);
  const start = () => {
    setFailure(null);
    const begin =
      current.parts[0] === 'login' && current.parts[1]
        ? loginByLink(current.parts[1])
        : current.parts[0] === 'login-failed'
          ? loadSession({ always: true }).then(() => failedLogin(current.parts[1], current.parts[2]))
          : loadSession().then(returnAfterLogin);
    begin.catch(setFailure);
  };
  useEffect(start, [current.parts[0] === 'login' ? current.parts[1] : '']);
  useEffect(() => {
    if (!caller || !caller.project) return undefined;
    startLive();
    return stopLive;
  }, [Boolean(caller) && caller.project]);
  if (failure && caller === undefined)
    return html`<main id="main"><${ErrorBox} error=${failure} retry=${start} /></main>`;
  if (caller === undefined) return null;
  if (caller === null) return html`<${inApplication ? SignedOut : Login} /><${Toasts} />`;
  if (!caller.project) return html`<${NoProject} /><${Toasts} />`;
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <div class="shell"><${Side} path=${current.parts[0] || ''} /><div><${Unreachable} /><${ReadOnlyBanner} /><main id="main"><${Page} /></main></div></div><${Toasts} /><${Dialogs} />`;
}

/** The application logs its users in, and may do so when the page is loaded. */
function SignedOut() {
  return html`<main class="login"><div class="card"><${Empty} icon="out" title="You are not logged in"><p>The application does not know you, or your session has ended. Log in to it, then load this page again.</p>
    <${Button} tone="main" onClick=${() => location.reload()}>Reload<//><//></div></main>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById('page-title')?.focus();
}

function Unreachable() {
  const there = useStore(reachable);
  return there
    ? null
    : html`<div class="banner tone-bad" role="status">The server cannot be reached. What you see may be old; the page tries again by itself.</div>`;
}

async function loginByLink(token) {
  history.replaceState(history.state, '', '#/');
  try {
    await redeem(token);
  } catch (failure) {
    await loadSession();
    if (!session.get())
      loginNotice.set(
        'The login link was used before or has ended. Log in with a key, or start the command again for a new link.',
      );
  }
  route.set({ parts: [], query: new URLSearchParams(), text: '/' });
}

startRouter();
startKeys();
render(html`<${App} />`, document.getElementById('app'));
