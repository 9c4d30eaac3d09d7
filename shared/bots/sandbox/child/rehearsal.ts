/**
 * Bots of our own that put the scripts of isolates to use before any other Bot does: V8 compiles a function when it is
 * first called, and what has been compiled goes into the cached data of every isolate.
 */

import vm from 'node:vm';
import { hostCall } from './host-calls.ts';

/** With the parts of the global scope that Bots use most. */
const RUNTIME = `
console.log('input', event.input, [1, null], new Error('rehearsed'));
const url = new URL('https://api.invalid/a?b=c');
url.searchParams.set('d', 'e');
const { signal } = new AbortController();
const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, signal });
await response.json();
setTimeout(() => undefined, 1);
const bytes = new TextEncoder().encode(crypto.randomUUID());
await crypto.subtle.digest('SHA-256', bytes);
structuredClone(event.input);
Buffer.from('text').toString('base64');
return { a: 1, text: new TextDecoder().decode(bytes).length };`;

/** What Bots most often do with the client, against an API that has one Patient. */
const CLIENT = `
const patient = { resourceType: 'Patient', id: '1' };
const parts = await Promise.allSettled([
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
]);
return parts.map(({ status }) => status);`;

const HL7 = `
const { input } = event;
input.getSegment('PID').getComponent(5, 1);
return [input.get('PID.5.1'), input.buildAck().toString().length];`;

const PROGRAMS: Record<string, string> = {
  'portico:runtime': RUNTIME,
  'portico:medplum-client': CLIENT,
  '@medplum/core': CLIENT,
  'portico:hl7': HL7,
};

const ANSWER = JSON.stringify({ resourceType: 'Patient', id: '1', entry: [], meta: { versionId: '1' } });
const ANSWER_HEAD = JSON.stringify({
  ...{ url: 'https://api.invalid/', status: 200, statusText: 'OK', redirected: false },
  headers: [['content-type', 'application/fhir+json']],
});

/**
 * Runs a Bot that uses the script `name` to its end; the host's part is played here. `textOf` reads a script.
 * Answers with all scripts that were loaded, and how the Bot ended: the operation, and its result or error as text.
 */
export function rehearse(textOf: (name: string) => string, name: string) {
  // Promises are settled before runInContext returns: nothing is left behind.
  const context = vm.createContext({}, { microtaskMode: 'afterEvaluate' });
  const scripts = new Map<string, vm.Script>();
  const fetches: string[] = [];
  let ended: [operation: string, text: string] | undefined;

  function load(id: string) {
    const script = new vm.Script(textOf(id), { filename: id });
    scripts.set(id, script);
    return script.runInContext(context);
  }

  function call(operation: string, a = '', b = '', c = '', d = ''): string | undefined {
    switch (operation) {
      case 'load':
        tell('library', load(a));
        return 'loaded';
      case 'fetch':
        fetches.push(a);
        return undefined;
      case 'returned':
      case 'threw':
        ended = [operation, b];
        return undefined;
      default:
        return hostCall(operation, a, b, c, d);
    }
  }

  const tell = load('portico:runtime')(call, call);
  const isHl7 = name === 'portico:hl7';
  const head = {
    ...{ kind: 'run', inputKind: isHl7 ? 'hl7' : 'json', event: { bot: {}, secrets: {}, headers: {} } },
    ...{ resultBytes: 1000, filename: 'bot.js', apiBaseUrl: 'https://api.invalid/', clientLibrary: name },
  };
  tell('begin', JSON.stringify(head), isHl7 ? 'MSH|^~\\&|A|B\rPID|1||2||Name^Given' : '{"a":1}');
  const program = PROGRAMS[name] ?? (name.startsWith('portico:') ? RUNTIME : `require('${name}')`);
  vm.runInContext(`__bot({ async handler(medplum, event) { ${program} } })`, context);
  for (const id of fetches) {
    tell('fetched', id, ANSWER_HEAD, 'utf8', ANSWER);
    vm.runInContext('', context);
  }
  return { ended, scripts };
}
