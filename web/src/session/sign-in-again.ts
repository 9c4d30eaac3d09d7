import { OperationOutcomeError, type Portico } from '../../../client/src/index.ts';
import { observable } from './observable.ts';

/** Of a state that comes back from an issuer, to the window that is there for nothing else. */
const prefix = 'again.';
const news = 'portico.sign-in-again';

interface IssuerAnswer {
  state: string;
  refusal?: string | undefined;
}

/** Asks a person to show again who they are, where the service wants a recent sign-in, and goes on with what they began. */
export function signInAgain() {
  /** The requests that wait for the answer to one question. */
  const waiting = observable<readonly ((isShown: boolean) => void)[]>([]);
  let api: Portico | undefined;
  const ask = () => new Promise<boolean>((resolve) => waiting.set([...waiting.get(), resolve]));
  const end = (isShown: boolean) => {
    for (const resolve of waiting.get()) resolve(isShown);
    waiting.set([]);
  };
  const post = async (path: string, body: object, credentials?: 'same-origin') => {
    const request = { method: 'POST', body, contentType: 'application/json' };
    return (await api?.fetch(path, { ...request, ...(credentials ? { credentials } : {}) }))?.json();
  };
  return {
    waiting,
    /** @throws what the service refused */
    async show(proof: { password: string } | { token: string }) {
      await post('auth/reauthenticate', proof);
      end(true);
    },
    /** The same at the issuer that they sign in with, in a window of its own. @throws what the service refused */
    async showAtIssuer() {
      // Before anything is waited for: browsers let a page open a window only in answer to a press.
      const window = open('', '_blank');
      if (!window) throw new Error('The window of the sign-in was not opened: allow this page to open it.');
      const state = `${prefix}${crypto.randomUUID()}`;
      const channel = new BroadcastChannel(news);
      // What the window says when it is back: why it was refused, or undefined.
      const said = new Promise<string | undefined>((resolve) => {
        channel.addEventListener('message', ({ data }: MessageEvent<IssuerAnswer>) => {
          if (data.state === state) resolve(data.refusal);
        });
      });
      try {
        const body = { redirectUri: `${location.origin}/app/external`, state };
        // Its cookie binds the way there and back to this browser.
        const answer = await post('auth/external/reauthenticate', body, 'same-origin');
        window.location.href = answer.location;
        const refusal = await said;
        if (refusal !== undefined) throw new Error(refusal);
        end(true);
      } catch (error) {
        window.close();
        throw error;
      } finally {
        channel.close();
      }
    },
    /** They do not want to: what they began is refused. */
    giveUp: () => end(false),
    /** The same API; a request that is refused for an old sign-in waits for another, and is made once more. */
    heeding(portico: Portico): Portico {
      api = portico;
      return {
        ...portico,
        async fetch(path, request, options) {
          try {
            return await portico.fetch(path, request, options);
          } catch (error) {
            // RFC 9470: who calls has signed in too long ago for what they ask.
            const isTooLongAgo =
              error instanceof OperationOutcomeError &&
              error.outcome.id === 'insufficient-user-authentication';
            if (!isTooLongAgo || !(await ask())) throw error;
            return portico.fetch(path, request, options);
          }
        },
      };
    },
  };
}

/** In the window of such a sign-in, when the issuer has led back to the app: tells the page that asked. @returns whether it is one */
export function tellSignedInAgain(query: URLSearchParams): boolean {
  const state = query.get('state') ?? '';
  if (!state.startsWith(prefix)) return false;
  const refusal = query.get('error_description') ?? query.get('error') ?? undefined;
  new BroadcastChannel(news).postMessage({ state, refusal } satisfies IssuerAnswer);
  close();
  return true;
}
