// The libraries under one name, and small stores that several components share.
import { h } from './preact.js';
import { useEffect, useState } from './preact-hooks.js';
import htm from './htm.js';

export { Fragment, render } from './preact.js';
export {
  useCallback,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from './preact-hooks.js';
export const html = htm.bind(h);

/** A value with listeners. */
export function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === 'function' ? next(value) : next;
      for (const listener of [...listeners]) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore(store) {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    setValue(store.get());
    return store.listen((next) => setValue(() => next));
  }, [store]);
  return value;
}

/** Reads a setting of this browser. */
export function setting(name, fallback) {
  try {
    return localStorage.getItem('carillon-' + name) ?? fallback;
  } catch {
    return fallback;
  }
}

export function saveSetting(name, value) {
  try {
    localStorage.setItem('carillon-' + name, value);
  } catch {
    // Without storage a setting lasts as long as the page.
  }
}

export const classes = (...names) => names.filter(Boolean).join(' ');
