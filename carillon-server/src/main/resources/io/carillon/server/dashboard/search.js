// The search field of runs, with completion of qualifiers and of their values.
import { get } from './api.js';
import { Icon } from './icons.js';
import { QUALIFIERS, RUN_STATES } from './query.js';
import { html, useEffect, useRef, useState } from './ui.js';

/** Returns the choices for the last word of a text. */
async function choicesFor(text) {
  const word = /\S*$/.exec(text)[0];
  const [name, value] = word.includes(':') ? word.split(/:(.*)/s) : [word, null];
  if (value === null)
    return Object.entries(QUALIFIERS)
      .filter(([one]) => word && one.startsWith(word))
      .map(([one, help]) => ({ text: one + ':', help }));
  const plain = name.replace(/^-/, '');
  let values = [];
  if (plain === 'state') values = RUN_STATES;
  if (plain === 'queue') values = (await get('v1/queues')).items.map((queue) => queue.name);
  if (plain === 'schedule') values = (await get('v1/schedules', { limit: 200 })).items.map((schedule) => schedule.name);
  if (plain === 'workflow') values = ['true'];
  if (plain === 'since') values = ['15m', '1h', '24h', '7d'];
  return values
    .filter((one) => one.startsWith(value) && one !== value)
    .slice(0, 8)
    .map((one) => ({ text: name + ':' + one + ' ', help: '' }));
}

export function SearchBox({ text, onSearch }) {
  const [draft, setDraft] = useState(text);
  const [choices, setChoices] = useState([]);
  const [at, setAt] = useState(-1);
  const input = useRef(null);
  useEffect(() => setDraft(text), [text]);
  const type = async (value) => {
    setDraft(value);
    setAt(-1);
    const found = await choicesFor(value).catch(() => []);
    if (input.current && input.current.value === value) setChoices(found);
  };
  const choose = (choice) => {
    const next = draft.replace(/\S*$/, '') + choice.text;
    input.current.focus();
    type(next);
  };
  const key = (event) => {
    if (event.key === 'Escape' && choices.length) {
      event.stopPropagation();
      return setChoices([]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) {
      event.preventDefault();
      return setAt((at + step + choices.length) % choices.length);
    }
    if (event.key === 'Enter' || (event.key === 'Tab' && at >= 0)) {
      if (at >= 0 && choices[at]) {
        event.preventDefault();
        choose(choices[at]);
      } else if (event.key === 'Enter') {
        setChoices([]);
        onSearch(draft.trim());
      }
    }
  };
  return html`<div class="search" role="search"><div class="search-box"><${Icon} name="search" /><input ref=${input} data-search type="text" role="combobox" aria-expanded=${choices.length ? 'true' : 'false'} aria-controls="search-choices" aria-activedescendant=${at >= 0 ? 'search-choice-' + at : undefined} aria-autocomplete="list" aria-label="Search runs" placeholder="state:dead handler:mail error:timeout since:2h" value=${draft} onInput=${(event) => type(event.target.value)} onKeyDown=${key} onBlur=${() => setTimeout(() => setChoices([]), 150)} autocomplete="off" spellcheck="false" />
    <ul class="choices" id="search-choices" role="listbox" aria-label="Completions" hidden=${choices.length === 0}>${choices.map(
      (choice, i) =>
        html`<li id=${'search-choice-' + i} role="option" aria-selected=${i === at ? 'true' : 'false'} onPointerDown=${(
          event,
        ) => {
          event.preventDefault();
          choose(choice);
        }}><code>${choice.text}</code><span>${choice.help}</span></li>`,
    )}</ul></div>
    ${text && html`<a class="button" href="#/runs">Clear</a>`}</div>`;
}
