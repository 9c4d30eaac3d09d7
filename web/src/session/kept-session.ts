import { newSealingKey, openText, sealingKey, sealText } from './sealing.ts';
import { forgetKept, readKept, writeKept } from './session-store.ts';

/** What the tabs of this browser share of a session. */
export interface KeptSession {
  /** Made when somebody signs in: another one is another session. */
  id: string;
  /** Used once: its answer holds the next one. */
  refreshToken: string;
}

const name = 'portico.session';
/** Cookies do not tell ports apart. */
const cookieName = `portico-session-${location.port || 'default'}`;
const cookieRules = `; path=/app; samesite=strict${location.protocol === 'https:' ? '; secure' : ''}`;
const news = new BroadcastChannel(name);

/**
 * The session of this browser, for all of its tabs. The refresh token lies in IndexedDB, which only this origin
 * reads, sealed under a key in a cookie that the browser drops when it is closed: what is left on the disk
 * afterwards opens nothing. Where the browser forbids storage, the session ends with a reload.
 */
export const keptSession = {
  /** Which one it is; undefined when nobody is signed in. */
  id: (): string | undefined => inCookie()?.id,
  async read(): Promise<KeptSession | undefined> {
    const found = inCookie();
    const sealed = found && (await readKept(found.id));
    if (!found || !sealed) return undefined;
    const refreshToken = await openText(await sealingKey(found.key), `${name} ${found.id}`, sealed);
    return refreshToken === undefined ? undefined : { id: found.id, refreshToken };
  },
  /** A new session, which takes the place of the one before. */
  async begin({ id, refreshToken }: KeptSession): Promise<void> {
    const key = newSealingKey();
    await forgetKept();
    await writeKept(id, await sealText(await sealingKey(key), `${name} ${id}`, refreshToken));
    setCookie(`${id}.${key}${cookieRules}`);
    news.postMessage({ id });
  },
  /** The next token of this session, unless another has taken its place. */
  async renew({ id, refreshToken }: KeptSession): Promise<void> {
    const found = inCookie();
    if (found?.id !== id) return;
    await writeKept(id, await sealText(await sealingKey(found.key), `${name} ${id}`, refreshToken));
  },
  /**
   * Ends it for all tabs, unless another session has taken its place.
   * @param by who ends it, where that is not the service
   */
  clear(id: string, by?: EndedBy): void {
    if (inCookie()?.id !== id) return;
    setCookie(`${cookieRules}; max-age=0`);
    void forgetKept();
    news.postMessage({ id: undefined, by });
  },
};

/** The person ends it themselves, or nobody has used it. */
type EndedBy = 'person' | 'idleness';

/** What another tab has done. */
interface SessionNews {
  /** The session that there is now. */
  id: string | undefined;
  by?: EndedBy | undefined;
}

/** Tells when another tab has signed in or out. @returns stops it */
export function onKeptSession(changed: (told: SessionNews) => void): () => void {
  const heard = async ({ data }: MessageEvent<SessionNews>) => {
    await cookieIsOf(data.id);
    changed({ ...data, id: keptSession.id() });
  };
  news.addEventListener('message', heard);
  return () => news.removeEventListener('message', heard);
}

/** A cookie that another process of the browser has set is seen a moment later than its message. */
async function cookieIsOf(id: string | undefined): Promise<void> {
  for (let tries = 0; tries < 40 && keptSession.id() !== id; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

function inCookie(): { id: string; key: string } | undefined {
  const [, id, key] =
    new RegExp(`(?:^|; )${cookieName}=([\\w-]{36})\\.([\\w-]{43})`).exec(document.cookie) ?? [];
  return id && key ? { id, key } : undefined;
}

function setCookie(valueAndRules: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox and Safari of 2024 have no Cookie Store
  document.cookie = `${cookieName}=${valueAndRules}`;
}
