import { base64url } from '../../../client/src/sign-in.ts';

/** What the tabs of this browser share of a session. */
export interface KeptSession {
  /** Made when somebody signs in: another one is another session. */
  id: string;
  /** Used once: its answer holds the next one. */
  refreshToken: string;
}

const name = 'portico.session';
const isSecure = location.protocol === 'https:';
/** Cookies do not tell ports apart. */
const cookieName = `${isSecure ? '__Secure-' : ''}portico-session-${location.port || 'default'}`;
const cookieRules = `; path=/app; samesite=strict${isSecure ? '; secure' : ''}`;
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
    const key = base64url(crypto.getRandomValues(new Uint8Array(32)));
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
export interface SessionNews {
  id: string | undefined;
  by?: EndedBy | undefined;
}

/** Tells when another tab has signed in or out. */
export function onKeptSession(changed: (told: SessionNews) => unknown): void {
  news.addEventListener('message', async ({ data }: MessageEvent<SessionNews>) => {
    await cookieIsOf(data.id);
    changed({ ...data, id: keptSession.id() });
  });
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

const storeName = 'session';

/**
 * What is kept of a session. IndexedDB and not `localStorage`, of which each process of the browser has a copy
 * that may be older: a token that another tab has used up would end the session.
 * @returns undefined too where the browser forbids storage
 */
export async function readKept(id: string): Promise<string | undefined> {
  const found: unknown = await inStore('readonly', (store) => store.get(id));
  return typeof found === 'string' ? found : undefined;
}

/** Keeps it until `forgetKept`. */
const writeKept = (id: string, sealed: string) => inStore('readwrite', (store) => store.put(sealed, id));

/** Keeps what `change` makes of what is kept: no tab writes between. */
export async function changeKept(id: string, change: (before: string | undefined) => string): Promise<void> {
  await inStore('readwrite', (store) => {
    const reading = store.get(id);
    reading.onsuccess = () => {
      const found: unknown = reading.result;
      store.put(change(typeof found === 'string' ? found : undefined), id);
    };
    return reading;
  });
}

/** Keeps nothing any more, of any session. */
const forgetKept = () => inStore('readwrite', (store) => store.clear());

async function inStore<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>) {
  try {
    const opening = indexedDB.open('portico', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(storeName);
    const database = await resultOf(opening);
    try {
      const transaction = database.transaction(storeName, mode);
      const request = use(transaction.objectStore(storeName));
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      return request.result;
    } finally {
      database.close();
    }
  } catch {
    // The browser forbids storage.
    return undefined;
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Undefined where the browser forbids storage, or has no room: what was to be kept lives as long as its page. */
export function whereAllowed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

const ivBytes = 12;

/** A key of AES-256-GCM from its 32 bytes in base64url, which cannot be read out again. */
export function sealingKey(base64url: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytesOf(base64url), 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** @param belonging opens under the same words only @returns base64url of IV, ciphertext and tag */
export async function sealText(key: CryptoKey, belonging: string, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const how = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(belonging) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(how, key, new TextEncoder().encode(text)));
  const all = new Uint8Array(ivBytes + sealed.length);
  all.set(iv);
  all.set(sealed, ivBytes);
  return base64url(all);
}

/** Undefined for what was not sealed under this key, or for something else. */
export async function openText(key: CryptoKey, belonging: string, sealed: string) {
  try {
    const all = bytesOf(sealed);
    const iv = all.subarray(0, ivBytes);
    const how = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(belonging) };
    return new TextDecoder().decode(await crypto.subtle.decrypt(how, key, all.subarray(ivBytes)));
  } catch {
    return undefined;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
