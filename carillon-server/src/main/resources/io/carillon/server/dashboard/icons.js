// Icons of 16 by 16 units, drawn with lines.
import { html } from './ui.js';

const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5M6.75 13V9.5h2.5V13',
  schedules: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3l2 1.5',
  timeline: 'M2.5 4h6M5.5 8h8M3.5 12h5',
  runs: 'M5 3.5 12 8l-7 4.5Z',
  queues: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  dead: 'M5.5 2.5h5l3 3v5l-3 3h-5l-3-3v-5ZM8 5.5v3M8 10.5v.1',
  events: 'M8 8h.1M5.5 5.5a3.5 3.5 0 0 0 0 5M10.5 5.5a3.5 3.5 0 0 1 0 5M3.5 3.5a6.4 6.4 0 0 0 0 9M12.5 3.5a6.4 6.4 0 0 1 0 9',
  endpoints: 'M6.5 9.5 13 3M8.5 3H13v4.5M11 9v4H3V5h4',
  nodes: 'M2.5 3h11v4h-11ZM2.5 9h11v4h-11ZM5 5h.1M5 11h.1',
  bulk: 'M2.5 4 4 5.5 6.5 3M2.5 11 4 12.5 6.5 10M9 4.5h4.5M9 11.5h4.5',
  audit: 'M4 2.5h6l2.5 2.5v8.5H4ZM6 7h4M6 10h4',
  settings: 'M3 4.5h5M11 4.5h2M3 11.5h2M8 11.5h5M9.5 3v3M6.5 10v3',
  waiting: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3h2.5',
  running: 'M13.5 8A5.5 5.5 0 1 1 8 2.5M8 2.5h.1M11.5 4l.1.1',
  succeeded: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM5.5 8.2 7.2 10l3.3-3.8',
  cancelled: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.2 11.8l7.6-7.6',
  quarantined: 'M8 2 13 4v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4ZM8 5.5v3M8 10.8v.1',
  skipped: 'M3.5 4 8 8l-4.5 4ZM8.5 4 13 8l-4.5 4Z',
  missed: 'M8 2.5 14 13H2ZM8 6.5v3M8 11.3v.1',
  paused: 'M5.5 3.5v9M10.5 3.5v9',
  planned: 'M3 4h10v9H3ZM3 7h10M5.5 2.5v2M10.5 2.5v2',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5l3 3',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z',
  check: 'M3.5 8.5 6.5 11.5l6-7',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  plus: 'M8 3v10M3 8h10',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z',
  system: 'M2.5 3.5h11v7h-11ZM6 13h4M8 10.5V13',
  redo: 'M12.5 4v3h-3M12.3 7A4.8 4.8 0 1 0 12.5 9.5',
  edit: 'M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3ZM9 4.7 11.3 7',
  send: 'M2.5 8 13.5 3l-3.5 10.5-2.5-4ZM7.5 9.5l6-6.5',
  out: 'M6.5 3h-4v10h4M6 8h7.5M10.5 5l3 3-3 3',
};

/** An icon without a name: the text beside it says the same. */
export function Icon({ name, size = 16 }) {
  return html`<svg class=${'icon icon-' + name} width=${size} height=${size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d=${PATHS[name] || PATHS.waiting} /></svg>`;
}
