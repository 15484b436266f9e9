// The recorded steps of a workflow, on the page of its run.
import { call, enc, get, post } from './api.js';
import { count, firstLine, friendly, pretty, targetName } from './format.js';
import { useLoad } from './load.js';
import {
  act,
  ActionButton,
  Button,
  Card,
  Code,
  confirmAction,
  ErrorBox,
  Field,
  Instant,
  More,
  openDialog,
  State,
  Time,
  toast,
} from './parts.js';
import { go, runLink } from './router.js';
import { html, useEffect, useState } from './ui.js';

const PAGE = 50;
const DOTS = { succeeded: 'fill-good', failed: 'fill-bad', waiting: 'fill-info', cancelled: 'fill-quiet', 'timed-out': 'fill-quiet' };

/** A run that has recorded nothing has no card. Pages that the reader asked for are read again with the first one. */
export function Steps({ run }) {
  const [pages, setPages] = useState(1);
  const [used, setUsed] = useState(false);
  const live = ['waiting', 'running'].includes(run.state);
  const path = 'v1/runs/' + enc(run.id) + '/steps';
  const load = async () => {
    const all = { items: [], next: '' };
    for (let page = 0; page < pages && (page === 0 || all.next); page++) {
      const more = await get(path, { limit: PAGE, cursor: all.next || undefined }, { exact: true });
      all.items.push(...more.items);
      all.next = more.next;
    }
    return all;
  };
  const version = `${run.state} ${run.attempt} ${pages}`;
  const steps = useLoad(`steps ${run.id} ${version}`, load, {
    every: live && (used || run.state === 'running') ? 3000 : 0,
  });
  const [shown, setShown] = useState(null);
  useEffect(() => {
    if (!steps.data) return;
    setShown(steps.data);
    setUsed(steps.data.items.length > 0);
  }, [steps.data]);
  if (!shown || shown.items.length === 0) return null;
  return html`<${Card} title="Steps"><ol class="steps flow-steps">${shown.items.map((step) => html`<${Step} key=${step.position} step=${step} path=${path} />`)}</ol>
    ${['dead', 'quarantined'].includes(run.state) && html`<div class="card-body"><${ActionButton} icon="redo" onClick=${() => retry(run)}>Retry<//></div>`}
    <${More} next=${shown.next} load=${async () => setPages(pages + 1)} /><//><${Children} key=${run.id} run=${run} version=${version} />`;
}

/** The workflows that this one has started as its children. */
function Children({ run, version }) {
  const children = useLoad(`children ${run.id} ${version}`, () => get('v1/runs', { parent: run.id }));
  const items = children.data ? children.data.items : [];
  if (items.length === 0) return null;
  return html`<${Card} title="Child workflows"><ul class="steps children">${items.map((child) => html`<li key=${child.id} class="step"><div class="step-body"><div class="row"><a href=${runLink(child.id)}><strong>${targetName(child.target)}</strong> …${child.id.slice(-6)}</a>${child.key !== undefined && html`<code>${child.key}</code>`}<${State} state=${child.state} /></div></div></li>`)}</ul><//>`;
}

/** What a record says; the first letter is that of a sentence. */
const sentence = (step) => friendly(step.description).replace(/^./, (letter) => letter.toUpperCase());
const aboutRun = (step) => ['await-run', 'run-ended'].includes(step.kind);

function Step({ step, path }) {
  const line = firstLine(step.error);
  return html`<li class="step"><div class="step-mark"><i class=${DOTS[step.state] || 'fill-quiet'}></i></div>
    <div class="step-body"><div class="row"><strong>${aboutRun(step) ? html`<a href=${runLink(step.name)}>Run …${step.name.slice(-6)}</a>` : step.name}</strong>${step.key !== undefined && html`<code>${step.key}</code>`}<${State} state=${step.state} /><span class="quiet">${step.kind !== 'step' && `${step.kind} · `}${step.until ? html`since <${Instant} at=${step.recordedAt} />` : html`<${Instant} at=${step.recordedAt} />`}${step.attempt > 1 && ` · attempt ${step.attempt}`}</span></div>
    ${step.kind !== 'step' && html`<div class=${step.state === 'waiting' ? '' : 'quiet'}>${sentence(step)}${step.state === 'waiting' && step.until && html`, <${Time} at=${step.until} />`}</div>`}
    ${line && html`<div class="error-text">${line}</div>`}
    ${step.error && step.error.trim() !== line && html`<details><summary>Whole error</summary><${Code} text=${step.error} label="Error" /></details>`}
    ${step.valueBytes > 0 && html`<${Value} step=${step} path=${path} />`}</div></li>`;
}

function retry(run) {
  confirmAction({
    title: 'Retry this workflow?',
    confirm: 'Retry',
    text: 'A new run continues with the step that failed. If steps were undone, it begins with the first one.',
    run: () =>
      post('v1/runs/' + enc(run.id) + '/redrive', { keepSteps: true }).then((made) => {
        toast('The new run was created.');
        go('/runs/' + made.run);
      }),
  });
}

/** Asks for the value of a signal. It is sent as it was typed, so that no number is rounded. */
export function sendSignal(run, signal, sent) {
  openDialog('Send signal ' + signal, function Send({ close }) {
    const [text, setText] = useState('{}');
    const [error, setError] = useState(null);
    let fault = '';
    try {
      JSON.parse(text);
    } catch (invalid) {
      fault = 'This is no JSON: ' + invalid.message;
    }
    const submit = async (event) => {
      event.preventDefault();
      try {
        const body = `{"name":${JSON.stringify(signal)},"value":${text}}`;
        await call('POST', 'v1/runs/' + enc(run.id) + '/signals', { body });
        close();
        toast('The signal was sent.');
        sent();
      } catch (failure) {
        setError(failure);
      }
    };
    return html`<form onSubmit=${submit}><p>The workflow gets this value and continues.</p>
      <${Field} name="value" label="Value (JSON)" rows=${8} value=${text} onInput=${setText} error=${fault} autofocus />
      <${ErrorBox} error=${error} /><div class="dialog-actions"><${Button} onClick=${close}>Back<//><button type="submit" class="button button-main" disabled=${Boolean(fault)}>Send signal</button></div></form>`;
  });
}

/** The result, which a list leaves out if it is long. */
function Value({ step, path }) {
  const [value, setValue] = useState(step.value);
  const label = 'Result of ' + step.name;
  if (value !== undefined)
    return html`<details open=${step.value === undefined}><summary>Result</summary><${Code} text=${pretty(value)} label=${label} /></details>`;
  const read = async () => setValue((await get(`${path}/${step.position}`, {}, { exact: true })).value);
  return html`<div><${Button} onClick=${() => act(read)}>Show the result of ${step.name} (${count(Math.ceil(step.valueBytes / 1024))} KiB)<//></div>`;
}
