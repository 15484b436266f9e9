// Actions on selected runs, and on all runs that match a search.
import { enc, get, post, serverNow } from './api.js';
import { count, plural } from './format.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { act, ActionButton, Button, confirmAction, State, toast } from './parts.js';
import { link } from './router.js';
import { html } from './ui.js';

/** From so many runs on, the number must be typed. */
const TYPED_FROM = 1000;
const ACTIONS = {
  redrive: {
    name: 'Redrive',
    done: 'redriven',
    icon: 'redo',
    states: ['dead', 'quarantined'],
    one: (run) => post('v1/runs/' + enc(run.id) + '/redrive'),
  },
  cancel: {
    name: 'Cancel',
    done: 'cancelled',
    icon: 'cancelled',
    tone: 'bad',
    states: ['waiting', 'running'],
    one: (run) => post('v1/runs/' + enc(run.id) + '/cancel', {}),
  },
  reschedule: {
    name: 'Run now',
    done: 'moved',
    icon: 'runs',
    states: ['waiting'],
    one: (run) => post('v1/runs/' + enc(run.id) + '/reschedule', { at: new Date(serverNow()).toISOString() }),
  },
  delete: { name: 'Delete', done: 'deleted', icon: 'close', tone: 'bad', states: ['dead', 'quarantined'] },
};

/** Runs an action on each selected run, four at a time. */
async function onEach(runs, action) {
  const left = [...runs];
  const failures = [];
  const worker = async () => {
    for (let run = left.shift(); run; run = left.shift()) {
      try {
        await action.one(run);
      } catch (failure) {
        failures.push(failure);
      }
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  const good = runs.length - failures.length;
  if (good > 0) toast(`${plural(good, 'run')} ${action.done}.`);
  if (failures.length > 0) toast(`${plural(failures.length, 'run')} not ${action.done}: ${failures[0].message}`, 'bad');
}

async function onAll(filter, name, matching, onBulk) {
  const body = { action: name, filter };
  if (name === 'reschedule') body.at = new Date(serverNow()).toISOString();
  const started = await post('v1/bulk-actions', body);
  onBulk(started.id);
  toast(`The bulk action on ${matching} runs has started.`);
}

export function RunActions({ runs, all, setAll, shownAll, search, clear, onBulk, reload }) {
  const states = new Set(all ? [search.bulk.state] : runs.map((run) => run.state));
  const usable = Object.entries(ACTIONS).filter(
    ([, action]) => [...states].every((state) => action.states.includes(state)) && (all || action.one),
  );
  const matching = all ? count(all.matching, all.more) : count(runs.length);
  const selectAll = () =>
    act(async () =>
      setAll(
        await post('v1/bulk-actions', {
          action: ACTIONS.redrive.states.includes(search.bulk.state) ? 'redrive' : 'cancel',
          filter: search.bulk,
          dryRun: true,
        }),
      ),
    );
  const start = ([name, action]) =>
    confirmAction({
      title: `${action.name}: ${matching} ${all ? search.bulk.state + ' ' : ''}${runs.length === 1 && !all ? 'run' : 'runs'}?`,
      text: html`<p>${name === 'redrive' ? 'Each becomes a new waiting run with the same payload.' : name === 'cancel' ? 'Waiting runs are not started. Running ones are asked to stop. This cannot be undone.' : name === 'delete' ? 'The runs and their payloads are removed. This cannot be undone.' : 'The runs become due now.'}</p>${all && html`<p class="quiet">The server works through all runs that match now, in chunks. You can abort; runs that were changed stay changed.</p>`}`,
      confirm: action.name + ' ' + matching,
      tone: action.tone,
      typed: all && all.matching >= TYPED_FROM ? String(all.matching) : undefined,
      run: async () => {
        if (all) await onAll(search.bulk, name, matching, onBulk);
        else await onEach(runs, action);
        clear();
        reload();
      },
    });
  return html`<strong>${all ? `All ${matching} that match` : plural(runs.length, 'run') + ' selected'}</strong>
    ${!all && shownAll && (search.bulk ? html`<button type="button" class="link" onClick=${selectAll}>Select all that match</button>` : html`<span class="quiet">To select all that match, search with state, queue and handler only.</span>`)}
    <span class="grow"></span>
    ${usable.length === 0 && html`<span class="quiet">No action fits the states of these runs.</span>`}
    ${usable.map((entry) => html`<${ActionButton} icon=${entry[1].icon} tone=${entry[1].tone} onClick=${() => start(entry)}>${entry[1].name}<//>`)}
    <${Button} onClick=${clear}>Clear selection<//>`;
}

/** The progress of a bulk action, until it is closed. */
export function BulkProgress({ id, close }) {
  const { data } = useLoad('bulk ' + id, () => get('v1/bulk-actions/' + enc(id)), { kinds: ['bulk'], every: 1500 });
  if (!data) return null;
  const running = data.state === 'running';
  return html`<div class="card"><div class="list-bar"><${State} state=${data.state} /><span><strong>${data.action}</strong> on ${data.filter.state} runs: ${count(data.done)} done</span><span class="grow"></span>
    ${running && html`<${ActionButton} tone="bad" icon="close" onClick=${() => act(() => post('v1/bulk-actions/' + enc(id) + '/abort'), 'Aborted. Runs that were changed stay changed.')}>Abort<//>`}
    <a class="button" href=${link(['bulk', id])}>Details</a>${close && !running && html`<button type="button" class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>`}</div>
    ${running && html`<div class="card-body"><progress aria-label="Bulk action in progress"></progress></div>`}</div>`;
}
