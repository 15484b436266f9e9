// Reads what a page shows, and reads it again when it may have changed.
import { SHARED_SECONDS } from './api.js';
import { useCallback, useEffect, useRef, useState } from './ui.js';
import { onEvent, paused } from './live.js';
import { traversed } from './router.js';

const MIN_PAUSE = 1000;
/** For figures and lists of a whole project, which many open pages read. */
export const SHARED = { shared: true, rest: 10000 };
const kept = new Map();

/**
 * Loads a value and keeps it fresh. The value stays on screen while it is read again.
 *
 * @param key identifies the value; a new key starts again
 * @param kinds of events after which it is read again
 * @param every milliseconds after which it is read again without an event; 0 for never
 * @param rest milliseconds between two reads; with `shared` answers of the server an event is followed by a pause, so
 *   that the answer is newer than the event
 */
export function useLoad(key, load, { kinds = [], every = 0, filter, rest = MIN_PAUSE, shared = false } = {}) {
  const [state, setState] = useState(() => ({ key, data: traversed ? kept.get(key) : undefined, error: null, at: 0 }));
  const latest = useRef({});
  latest.current.load = load;
  latest.current.filter = filter;
  const run = useRef({ busy: false, again: false, began: 0, timer: 0, key: '', shown: null, fresh: false });

  const read = useCallback(async (fresh = true) => {
    const mine = run.current;
    if (mine.busy) {
      mine.again = true;
      mine.fresh = mine.fresh || fresh;
      return;
    }
    const forKey = mine.key;
    // A paused page keeps what it shows, also when the event or the answer is older than the pause.
    const stays = () => !fresh && paused.get() && mine.shown === forKey;
    if (stays()) return;
    mine.busy = true;
    mine.began = Date.now();
    try {
      const data = await latest.current.load({ shared: shared && !fresh });
      if (forKey === mine.key && !stays()) {
        mine.shown = forKey;
        kept.set(forKey, data);
        if (kept.size > 40) kept.delete(kept.keys().next().value);
        setState({ key: forKey, data, error: null, at: Date.now() });
      }
    } catch (error) {
      if (forKey === mine.key && error.name !== 'AbortError')
        setState((old) => ({ ...old, key: forKey, data: old.key === forKey ? old.data : undefined, error }));
    } finally {
      mine.busy = false;
      if (mine.again || forKey !== mine.key) {
        mine.again = false;
        schedule();
      }
    }
  }, []);

  const schedule = useCallback(() => {
    const mine = run.current;
    if (mine.timer) return;
    mine.timer = setTimeout(
      () => {
        mine.timer = 0;
        const fresh = mine.fresh;
        mine.fresh = false;
        read(fresh);
      },
      Math.max(shared ? SHARED_SECONDS * 1000 : 0, mine.began + rest - Date.now()),
    );
  }, []);

  useEffect(() => {
    const mine = run.current;
    mine.key = key;
    mine.began = 0;
    setState((old) =>
      old.key === key ? old : { key, data: traversed ? kept.get(key) : undefined, error: null, at: 0 },
    );
    if (mine.busy) mine.again = true;
    else read(false);
    const wanted = new Set(kinds);
    const off = onEvent((event) => {
      if (
        (event.kind === 'all' || wanted.has(event.kind)) &&
        (!latest.current.filter || event.kind === 'all' || latest.current.filter(event))
      )
        schedule();
    });
    const timer = every
      ? setInterval(() => {
          if (!paused.get() && !document.hidden) schedule();
        }, every)
      : 0;
    return () => {
      off();
      clearInterval(timer);
      clearTimeout(mine.timer);
      mine.timer = 0;
    };
  }, [key, every]);

  const current = state.key === key ? state : { key, data: undefined, error: null };
  const replace = useCallback((change) => setState((old) => ({ ...old, data: change(old.data) })), []);
  return {
    data: current.data,
    error: current.error,
    loading: current.data === undefined && !current.error,
    reload: () => read(),
    replace,
  };
}

/** Calls a function with a value some time after it stopped changing. */
export function useDebounced(value, ms) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
