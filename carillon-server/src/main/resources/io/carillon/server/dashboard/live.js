// Tells pages that something has changed. All tabs of a browser share one event stream: the tab that holds the lock
// reads it and passes the events on.
import { call, recheck, session } from './api.js';
import { createStore, saveSetting, setting } from './ui.js';

/** 'live', 'connecting' or 'polling' (the key may not read the stream). */
export const streamState = createStore('connecting');
/** Whether this browser tab is paused by its user. */
export const paused = createStore(setting('paused', 'no') === 'yes');

const listeners = new Set();
/** Between the tabs of this browser that show the same project. */
let channel = null;
/** Stops the stream of this tab; null while there is no session. */
let running = null;
let lastEventId = '';

/** Calls back with each event {kind, id, state}; kind 'all' means that anything may have changed. */
export function onEvent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function deliver(event) {
  if (paused.get() || document.hidden) return;
  for (const listener of [...listeners]) listener(event);
}

export function setPaused(next) {
  saveSetting('paused', next ? 'yes' : 'no');
  paused.set(next);
  if (!next) deliver({ kind: 'all' });
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) deliver({ kind: 'all' });
});

function share(message) {
  receive(message);
  if (channel) channel.postMessage(message);
}

function receive(message) {
  if (message.state) streamState.set(message.state);
  if (message.event) deliver(message.event);
}

function openChannel(name) {
  if (typeof BroadcastChannel !== 'function') return;
  channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => {
    if (data.ask && leading) channel.postMessage({ state: streamState.get() });
    else receive(data);
  };
}

let leading = false;

/** Starts the stream in this tab, or waits until the tab that has it is closed. */
export function startLive() {
  if (running) return;
  const name = 'carillon ' + location.pathname + ' ' + session.get().project;
  const controller = new AbortController();
  running = controller;
  openChannel(name);
  const lead = async () => {
    leading = true;
    try {
      await readForever(controller.signal);
    } finally {
      leading = false;
    }
  };
  if (channel) channel.postMessage({ ask: true });
  if (navigator.locks) navigator.locks.request(name, { signal: controller.signal }, lead).catch(() => {});
  else lead();
}

export function stopLive() {
  if (running) running.abort();
  running = null;
  if (channel) channel.close();
  channel = null;
}

const wait = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

async function readForever(signal) {
  let pause = 1000;
  while (!signal.aborted && session.get()) {
    let refused = 0;
    let ended = false;
    try {
      const response = await call('GET', 'v1/stream', {
        raw: true,
        signal,
        headers: lastEventId ? { 'Last-Event-ID': lastEventId } : {},
      });
      refused = response.ok ? 0 : response.status;
      if (refused === 401) await call('GET', 'v1/session').catch(() => {});
      if (response.ok) {
        // A stream that ended in order continues after its last event.
        if (streamState.get() !== 'live' || !lastEventId) {
          share({ state: 'live' });
          // What changed while there was no stream, and was not sent again, is found by reading.
          share({ event: { kind: 'all' } });
        }
        pause = 1000;
        await readStream(response.body.getReader());
        ended = true;
      }
    } catch (failure) {
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    if (!ended) share({ state: refused === 403 || refused === 429 || refused === 501 ? 'polling' : 'connecting' });
    await wait(refused === 403 || refused === 501 ? 600000 : pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(pause * 1.6, 15000);
  }
}

async function readStream(reader) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      receiveBlock(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function receiveBlock(block) {
  let name = '';
  let data = '';
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') lastEventId = value;
    if (field === 'event') name = value;
    if (field === 'data') data += value;
  }
  if (!name) return;
  if (name === 'stream.ended') {
    // The session has ended, or the role of the user has changed.
    recheck();
    return;
  }
  let fields = {};
  try {
    fields = JSON.parse(data || '{}');
  } catch {
    // An event is only a hint to read again.
  }
  // Many changes at once come in one block.
  if (name === 'changes') for (const one of fields.events || []) shareOne(one.kind || '', one);
  else shareOne(name, fields);
}

function shareOne(name, fields) {
  const kind = name === 'events.lost' ? 'all' : name.split('.')[0];
  share({
    event: {
      kind,
      name,
      id: fields.run || fields.id || (fields.object || '').split('/')[1] || '',
      state: fields.state,
    },
  });
}
