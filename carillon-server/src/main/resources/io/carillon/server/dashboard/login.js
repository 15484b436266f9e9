// The login page: an API key is exchanged for a session, which scripts cannot read.
import { logIn, loginNotice } from './api.js';
import { keepReturn, provider } from './people.js';
import { Icon } from './icons.js';
import { ErrorBox, Notice } from './parts.js';
import { html, useEffect, useRef, useState, useStore } from './ui.js';

export function Login() {
  const notice = useStore(loginNotice);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const input = useRef(null);
  useEffect(() => {
    document.title = 'Log in · Carillon';
    if (!provider) input.current.focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    const key = input.current.value.trim();
    if (!key) return input.current.focus();
    setBusy(true);
    setError(null);
    try {
      await logIn(key);
    } catch (failure) {
      setError(
        failure.status === 401
          ? {
              message:
                'The server does not know this key, or the key has expired or was revoked. Check that you copied all of it.',
            }
          : failure,
      );
      setBusy(false);
      input.current.select();
    }
  };
  return html`<main class="login"><div class="card">
    <div class="brand"><${Icon} name="schedules" size=${22} /><h1>Carillon</h1></div>
    ${notice && html`<${Notice} tone="quiet" icon="waiting">${notice}<//>`}
    ${provider && html`<a class="button button-main" href="ui/login" onClick=${keepReturn}>Log in with ${provider}</a><div class="or">or with a key</div>`}
    <form onSubmit=${submit}>
      <div class="field"><label for="key">API key</label><input id="key" name="key" type="password" ref=${input} autocomplete="off" spellcheck="false" placeholder="crl_…" aria-describedby="key-help" />
        <div class="help" id="key-help">The key is exchanged for a session of at most 12 hours, and is not stored in this browser.</div></div>
      <${ErrorBox} error=${error} />
      <button type="submit" class=${'button' + (provider ? '' : ' button-main')} disabled=${busy}>${busy ? 'Logging in…' : 'Log in'}</button>
    </form>
    <details><summary>Where do I get a key?</summary><div class="stack">
      <p>The first start of a server writes a key to a file, and its log names the file. <code>carillon dev</code> prints a link that logs in.</p><p>With a key that has the scope admin, create one for each person:</p><code>carillon key create ann --scope manage</code></div></details>
  </div></main>`;
}
