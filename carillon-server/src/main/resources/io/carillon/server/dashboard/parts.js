// Components that all pages use.
import { call, can, inApplication, isReadOnly, serverNow, session } from './api.js';
import { absolute, relative, zone, zoneName } from './format.js';
import { Icon } from './icons.js';
import { classes, createStore, html, useEffect, useLayoutEffect, useRef, useState, useStore } from './ui.js';

const STATES = {
  waiting: 'Waiting',
  running: 'Running',
  succeeded: 'Succeeded',
  dead: 'Dead',
  cancelled: 'Cancelled',
  quarantined: 'Quarantined',
  skipped: 'Skipped',
  missed: 'Missed',
  paused: 'Paused',
  planned: 'Planned',
  'timed-out': 'Timed out',
};
const TONES = {
  running: 'info',
  succeeded: 'good',
  done: 'good',
  dead: 'bad',
  failed: 'bad',
  quarantined: 'odd',
  missed: 'warn',
  'timed-out': 'warn',
  paused: 'warn',
  open: 'bad',
  'half-open': 'warn',
};
const ICONS = {
  active: 'runs',
  done: 'succeeded',
  failed: 'dead',
  aborted: 'cancelled',
  open: 'dead',
  closed: 'succeeded',
  'timed-out': 'missed',
  'half-open': 'missed',
};

/** A state as icon, text and colour. */
export function State({ state, text, note }) {
  const name = text || STATES[state] || (state || '–').replace(/^./, (letter) => letter.toUpperCase());
  return html`<span class=${'state tone-' + (TONES[state] || 'quiet')} title=${note}><${Icon} name=${ICONS[state] || state} size=${14} /><span>${name}</span></span>`;
}

const ticker = createStore(0);
setInterval(() => {
  if (!document.hidden) ticker.set((n) => n + 1);
}, 1000);

/** A relative time; the absolute one is its tooltip, and stands beside it if `both` is set. */
export function Time({ at, both = false, none = '–' }) {
  useStore(zone);
  const [, setText] = useState('');
  useEffect(() => (at ? ticker.listen(() => setText(relative(at))) : undefined), [at]);
  if (!at) return html`<span class="quiet">${none}</span>`;
  return html`<time class="time" datetime=${at} title=${absolute(at)}>${relative(at)}${both && html` <span class="quiet">${absolute(at)}</span>`}</time>`;
}

/** An absolute time with the relative one as its tooltip. */
export function Instant({ at, timeZone, weekday }) {
  const choice = useStore(zone);
  if (!at) return html`<span class="quiet">–</span>`;
  return html`<time class="time" datetime=${at} title=${relative(at)}>${absolute(at, timeZone || zoneName(choice), { weekday })}</time>`;
}

/** Text that grows each second, such as the time that a run has taken. */
export function Elapsed({ from, show }) {
  const [, tick] = useState(0);
  useEffect(() => ticker.listen(tick), []);
  return html`<span class="num">${show(serverNow() - Date.parse(from))}</span>`;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS a page may not use the clipboard, except through a selection.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

export function Copy({ text, label = 'Copy' }) {
  const [done, setDone] = useState(false);
  const click = async (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (!(await copyText(text))) return toast('The browser did not allow it. Select the text and copy it.', 'bad');
    setDone(true);
    announce('Copied');
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="icon-button small" onClick=${click} title=${label} aria-label=${label}><${Icon} name=${done ? 'check' : 'copy'} size=${14} /></button>`;
}

/** An id with a button that copies it. */
export const Id = ({ value, href }) =>
  html`<span class="id">${href ? html`<a href=${href}><code>${value}</code></a>` : html`<code>${value}</code>`}<${Copy} text=${value} label=${'Copy ' + value} /></span>`;

/** Text of several lines in a fixed font, with a copy button. */
export function Code({ text, label }) {
  return html`<div class="code"><pre tabindex="0" aria-label=${label}>${text}</pre><${Copy} text=${text} label=${'Copy ' + (label || 'text')} /></div>`;
}

export function Button({ icon, children, tone, ...rest }) {
  return html`<button type="button" ...${rest} class=${classes('button', tone && 'button-' + tone, rest.class)}>${icon && html`<${Icon} name=${icon} />`}<span>${children}</span></button>`;
}

/** A button that needs a permission. Without it, users do not see it; for a key, it is disabled and says why. */
export function ActionButton({ needs = 'manage', disabled, title, ...rest }) {
  const caller = useStore(session);
  const allowed = can(needs) && !isReadOnly();
  if (!allowed && !isReadOnly() && caller && caller.user) return null;
  const reason = isReadOnly()
    ? 'This server is read-only.'
    : inApplication
      ? 'You may look at this dashboard, but not change anything.'
      : 'Your key does not have the scope ' + needs + '.';
  return html`<${Button} ...${rest} disabled=${disabled || !allowed} title=${allowed ? title : reason} />`;
}

/** What a page shows if it has nothing: the text says how to get something. */
export function Empty({ icon = 'runs', title, children }) {
  return html`<div class="empty"><${Icon} name=${icon} size=${28} /><h2>${title}</h2><div>${children}</div></div>`;
}

/** A command to try, with a copy button. */
export const Command = ({ text }) =>
  html`<div class="command"><code>${text}</code><${Copy} text=${text} label="Copy command" /></div>`;

const ADVICE = {
  404: 'It may have been deleted, or it belongs to another project.',
  429: 'The quota of the project is used up. Wait a moment.',
  503: 'The server is overloaded or has no database. It recovers by itself.',
};

export function ErrorBox({ error, retry }) {
  if (!error) return null;
  const title =
    error.status === 0
      ? 'No connection'
      : error.status === 403
        ? 'Not allowed'
        : error.status === 404
          ? 'Not found'
          : 'This did not work';
  return html`<div class="notice tone-bad" role="alert"><${Icon} name="missed" /><div><strong>${title}.</strong> ${error.message.replace(' List the existing ones with GET.', '')} ${error.status === 403 && !inApplication && !isReadOnly() && session.get() && !session.get().user ? 'Log in with a key that has the needed scope.' : ADVICE[error.status] || ''}
    ${(error.errors || []).map((fault) => html`<div><code>${fault.pointer}</code> ${fault.detail}</div>`)}
    ${error.requestId && html`<div class="quiet">Request <code>${error.requestId}</code></div>`}
    ${retry && html`<div><${Button} onClick=${retry} icon="redo">Try again<//></div>`}</div></div>`;
}

export function Notice({ tone = 'warn', icon = 'missed', children }) {
  return html`<div class=${'notice tone-' + tone}><${Icon} name=${icon} /><div>${children}</div></div>`;
}

/** Grey lines of the height of the rows that will replace them, so that the page does not move. */
export const Skeleton = ({ rows = 8 }) =>
  html`<div class="skeleton" aria-busy="true" aria-label="Loading">${Array.from({ length: rows }, () => html`<div></div>`)}</div>`;

/** The title of a page; `name` is its text if the title is more than a text. */
export function Head({ title, name, sub, children }) {
  const text = name || (typeof title === 'string' ? title : '');
  useEffect(() => {
    document.title = (text ? text + ' · ' : '') + 'Carillon';
  }, [text]);
  return html`<header class="page-head"><div class="page-title"><h1 tabindex="-1" id="page-title">${title}</h1>${sub && html`<div class="sub">${sub}</div>`}</div>
    <div class="actions">${children}</div></header>`;
}

export const Card = ({ title, actions, children, class: extra }) =>
  html`<section class=${classes('card', extra)}>${title && html`<div class="card-head"><h2>${title}</h2>${actions}</div>`}${children}</section>`;

/** Pairs of names and values; pairs without a value are left out. */
export const Facts = ({ items }) =>
  html`<dl class="facts">${items.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export const Tabs = ({ items, current, label }) =>
  html`<nav class="tabs" aria-label=${label}>${items.map((item) => html`<a href=${item.href} aria-current=${item.key === current ? 'page' : undefined}>${item.icon && html`<${Icon} name=${item.icon} size=${14} />`}${item.name}${item.count !== undefined && html`<span class="tab-count num">${item.count}</span>`}</a>`)}</nav>`;

// Messages at the edge of the page.
const toasts = createStore([]);
const spoken = createStore('');
export const announce = (text) => spoken.set(text);

export function toast(text, tone = 'good', action) {
  const one = { key: Math.random(), text, tone, action };
  toasts.set((all) => [...all.slice(-3), one]);
  setTimeout(
    () => toasts.set((all) => all.filter((other) => other !== one)),
    action ? 12000 : tone === 'bad' ? 9000 : 4500,
  );
}

export function Toasts() {
  const all = useStore(toasts);
  const text = useStore(spoken);
  return html`<div class="toasts" role="status" aria-live="polite">${all.map(
    (one) =>
      html`<div key=${one.key} class=${'toast tone-' + one.tone}><${Icon} name=${one.tone === 'bad' ? 'missed' : 'succeeded'} /><span>${one.text}</span>${
        one.action &&
        html`<button type="button" class="link" onClick=${() => {
          toasts.set((rest) => rest.filter((other) => other !== one));
          one.action.run();
        }}>${one.action.name}</button>`
      }<button type="button" class="icon-button small" aria-label="Dismiss" onClick=${() => toasts.set((rest) => rest.filter((other) => other !== one))}><${Icon} name="close" size=${14} /></button></div>`,
  )}</div><div class="offscreen" aria-live="polite">${text}</div>`;
}

// One dialog at a time, above the page.
const dialog = createStore(null);

/** Opens a dialog; `body` gets a function that closes it. */
export function openDialog(title, body) {
  dialog.set({ title, body, key: Math.random() });
}
export const closeDialog = () => dialog.set(null);
export const dialogIsOpen = () => Boolean(dialog.get());

export function Dialogs() {
  const open = useStore(dialog);
  const element = useRef(null);
  useLayoutEffect(() => {
    if (!open) return undefined;
    const opener = document.activeElement;
    element.current.showModal();
    return () => opener && opener.isConnected && opener.focus();
  }, [open]);
  useEffect(() => {
    window.addEventListener('hashchange', closeDialog);
    return () => window.removeEventListener('hashchange', closeDialog);
  }, []);
  if (!open) return null;
  return html`<dialog key=${open.key} ref=${element} class="dialog" aria-labelledby="dialog-title" onClose=${closeDialog} onClick=${(event) => event.target === element.current && closeDialog()}>
    <div class="dialog-body"><div class="dialog-head"><h2 id="dialog-title">${open.title}</h2><button type="button" class="icon-button" aria-label="Close" onClick=${closeDialog}><${Icon} name="close" /></button></div>${html`<${open.body} close=${closeDialog} />`}</div></dialog>`;
}

/** Asks before an action; a large count must be typed. */
export function confirmAction({ title, text, confirm, tone, typed, fields, run }) {
  openDialog(title, function Confirm({ close }) {
    const [busy, setBusy] = useState(false);
    const [error, setError] = useState(null);
    const [word, setWord] = useState('');
    const [values, setValues] = useState({});
    const submit = async (event) => {
      event.preventDefault();
      setBusy(true);
      setError(null);
      const asked = dialog.get();
      try {
        await run(values);
        // The action may have opened another dialog, with its result.
        if (dialog.get() === asked) close();
      } catch (failure) {
        setError(failure);
        setBusy(false);
      }
    };
    return html`<form onSubmit=${submit}><div class="dialog-text">${typeof text === 'function' ? html`<${text} />` : text}</div>
      ${(fields || []).map((field) => html`<${Field} ...${field} value=${values[field.name] ?? field.value ?? ''} onInput=${(value) => setValues({ ...values, [field.name]: value })} />`)}
      ${typed && html`<${Field} name="typed" label=${'Type ' + typed + ' to confirm'} value=${word} onInput=${setWord} />`}
      <${ErrorBox} error=${error} />
      <div class="dialog-actions"><${Button} onClick=${close}>Back<//><button type="submit" class=${classes('button', 'button-' + (tone || 'main'))} disabled=${busy || (typed && word !== typed)}>${busy ? 'Working…' : confirm}</button></div></form>`;
  });
}

/** Runs an action and says what came of it. */
export async function act(run, done) {
  try {
    const value = await run();
    if (done) toast(typeof done === 'function' ? done(value) : done);
    return value;
  } catch (failure) {
    toast(failure.message + (failure.errors && failure.errors[0] ? ' ' + failure.errors[0].detail : ''), 'bad');
    return undefined;
  }
}

/** A labelled input with help and error below it. */
export function Field({
  name,
  label,
  help,
  error,
  type = 'text',
  value,
  options,
  onInput,
  rows,
  list,
  required,
  placeholder,
  autofocus,
  disabled,
}) {
  const id = 'field-' + name;
  const described = [help && id + '-help', error && id + '-error'].filter(Boolean).join(' ') || undefined;
  const shared = {
    id,
    name,
    value,
    required,
    disabled,
    'aria-describedby': described,
    'aria-invalid': error ? 'true' : undefined,
  };
  const focus = useRef(null);
  useEffect(() => {
    if (autofocus && focus.current) focus.current.focus();
  }, []);
  const input = options
    ? html`<select ...${shared} onChange=${(event) => onInput(event.target.value)}>${options.map((option) => html`<option value=${option.value} selected=${option.value === value}>${option.name}</option>`)}</select>`
    : rows
      ? html`<textarea ...${shared} ref=${focus} rows=${rows} spellcheck="false" placeholder=${placeholder} onInput=${(event) => onInput(event.target.value)}></textarea>`
      : html`<input ...${shared} ref=${focus} type=${type} list=${list} placeholder=${placeholder} autocomplete="off" spellcheck="false" onInput=${(event) => onInput(event.target.value)} />`;
  return html`<div class="field"><label for=${id}>${label}</label>${input}${help && html`<div class="help" id=${id + '-help'}>${help}</div>`}${error && html`<div class="field-error" id=${id + '-error'}>${error}</div>`}</div>`;
}

/** Ends a list: loads the next page. */
export function More({ next, load, text = 'Load more' }) {
  const [busy, setBusy] = useState(false);
  if (!next) return null;
  const click = async () => {
    setBusy(true);
    await act(load);
    setBusy(false);
  };
  return html`<div class="more"><${Button} onClick=${click} disabled=${busy}>${busy ? 'Loading…' : text}<//></div>`;
}
