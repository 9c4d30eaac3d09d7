/**
 * Programs of our own that put the runtime script and the libraries to use before any Bot does: V8 compiles a
 * function when it is first called, and what has been compiled goes into the cached data of every isolate.
 */

import vm from 'node:vm';
import { hostCall } from './host-calls.ts';

/**
 * Runs the script and then the program, which finds what the script gave as `given`. Ends at once, with what
 * the program called `ended`: how its parts went.
 */
export function rehearse(script: vm.Script, program: string): unknown {
  // Promises are settled before runInContext returns: nothing is left behind.
  const context = vm.createContext({}, { microtaskMode: 'afterEvaluate' });
  const given = script.runInContext(context);
  Object.assign(context, { given, hostCall, URL, URLSearchParams, Headers, EventTarget });
  vm.runInContext(program, context);
  return context.ended;
}

export const rehearseLibrary = `
const library = { exports: {} };
given(library, library.exports, () => ({}));
`;

/** What Bots most often do with the client, against an API that has one Patient. */
export const rehearseClient = `${rehearseLibrary}
const answer = { resourceType: 'Patient', id: '1', entry: [], meta: { versionId: '1' } };
const fetch = async () => ({
  ok: true,
  status: 200,
  headers: new Headers({ 'content-type': 'application/fhir+json' }),
  json: async () => answer,
  text: async () => '',
});
const medplum = new library.exports.MedplumClient({ baseUrl: 'https://api.invalid/', fetch, accessToken: 'none' });
const patient = { resourceType: 'Patient', id: '1' };
globalThis.ended = [];
void Promise.allSettled([
  medplum.readResource('Patient', '1'),
  medplum.readReference({ reference: 'Patient/1' }),
  medplum.createResource({ resourceType: 'Patient' }),
  medplum.createResourceIfNoneExist({ resourceType: 'Patient' }, 'identifier=a|b'),
  medplum.updateResource(patient),
  medplum.upsertResource(patient, { identifier: 'a|b' }),
  medplum.patchResource('Patient', '1', [{ op: 'replace', path: '/active', value: true }]),
  medplum.deleteResource('Patient', '1'),
  medplum.search('Patient', 'name=a'),
  medplum.searchOne('Patient', { name: 'a' }),
  medplum.searchResources('Patient', 'name=a&_count=1'),
  medplum.executeBatch({ resourceType: 'Bundle', type: 'transaction', entry: [] }),
  medplum.executeBot('1', { a: 1 }, 'application/json'),
]).then((parts) => {
  globalThis.ended = parts.map(({ status }) => status);
});
`;

/** A run as child and supervisor see it through; the host's part is played here. */
export const rehearseRuntime = `
const head = JSON.stringify({ url: 'https://api.invalid/', status: 200, statusText: 'OK', redirected: false,
  headers: [['content-type', 'application/json']] });
const call = (operation, a, b, c) => {
  if (operation === 'returned' || operation === 'threw') globalThis.ended = [operation, b];
  if (operation === 'fetch') void Promise.resolve().then(() => tell('fetched', a, head, 'utf8', '{"a":1}'));
  return operation === 'fetch' ? undefined : hostCall(operation, a, b, c);
};
const tell = given(call, call);
tell('begin', JSON.stringify({ kind: 'run', inputKind: 'json', event: { bot: {}, secrets: {}, headers: {} },
  resultBytes: 1000, filename: 'bot.js', apiBaseUrl: 'https://api.invalid/', clientLibrary: '' }), '{"a":1}');
__bot({
  async handler(medplum, event) {
    console.log('input', event.input, [1, null], new Error('rehearsed'));
    const url = new URL('https://api.invalid/a?b=c');
    url.searchParams.set('d', 'e');
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    await response.json();
    setTimeout(() => undefined, 1);
    crypto.randomUUID();
    Buffer.from('text').toString('base64');
    return { a: 1, text: new TextDecoder().decode(new TextEncoder().encode('text')) };
  },
});
`;
