const storeName = 'session';

/**
 * What is kept of a session. IndexedDB and not `localStorage`, of which each process of the browser has a copy
 * that may be older: a token that another tab has used up would end the session.
 * @returns undefined too where the browser forbids storage
 */
export async function readKept(id: string): Promise<string | undefined> {
  const found: unknown = await inStore('readonly', (store) => store.get(id)).catch(() => undefined);
  return typeof found === 'string' ? found : undefined;
}

/** Keeps it until `forgetKept`. */
export async function writeKept(id: string, sealed: string): Promise<void> {
  await inStore('readwrite', (store) => store.put(sealed, id)).catch(() => undefined);
}

/** Keeps what `change` makes of what is kept: no tab writes between. */
export async function changeKept(id: string, change: (before: string | undefined) => string): Promise<void> {
  const make = (store: IDBObjectStore) => {
    const reading = store.get(id);
    reading.onsuccess = () => {
      const found: unknown = reading.result;
      store.put(change(typeof found === 'string' ? found : undefined), id);
    };
    return reading;
  };
  await inStore('readwrite', make).catch(() => undefined);
}

/** Keeps nothing any more, of any session. */
export async function forgetKept(): Promise<void> {
  await inStore('readwrite', (store) => store.clear()).catch(() => undefined);
}

async function inStore<T>(
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
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
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
