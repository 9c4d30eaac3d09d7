import { setTimeout as pause } from 'node:timers/promises';
import { mailedLink } from '../spec/mailed-link.ts';
import type { Call, Portico } from '../spec/portico.ts';
import { botThat, deploy, projectOf } from '../spec/running.ts';
import { newSubscription, secret, subscribe } from '../spec/subscribing.ts';

/** Of all people in a kept table. */
export const password = 'correct horse battery';
export const identifier = { system: 'https://example.org/bots', value: 'kept' };
/** More than fits one item. */
export const longText = 'All that was said. '.repeat(30_000);
const fhir = { 'content-type': 'application/fhir+json' };
const handler = (body: string) => `export const handler = async (medplum, event) => { ${body} };`;

/** Leaves one of each thing that a table keeps for long. @returns ids and what was shown once, by name */
export async function useEverything(portico: Portico): Promise<Record<string, string>> {
  const project = projectOf(portico, 0).id;
  const admin = `admin/projects/${project}`;
  const ask = async (method: string, path: string, call: Call = {}) => {
    const answer = await portico.api(method, path, call);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const put = (body: { resourceType: string; [name: string]: unknown }) =>
    ask(body.id ? 'PUT' : 'POST', `fhir/R4/${body.resourceType}${body.id ? `/${body.id}` : ''}`, {
      body,
      headers: fhir,
    });

  const policy = await put({
    resourceType: 'AccessPolicy',
    name: 'Ward',
    resource: [{ resourceType: 'Patient', criteria: 'Patient?active=true' }],
  });
  const invite = (email: string, change: object) =>
    ask('POST', `${admin}/invite`, { body: { firstName: 'Ann', lastName: 'Lee', email, ...change } });
  const member = await invite('member@example.com', { resourceType: 'Practitioner', policy: 'Ward' });
  const link = await mailedLink(portico, 'member@example.com');
  await ask('POST', 'auth/setpassword', { token: null, body: { ...link, password } });
  const invited = await invite('invited@example.com', { resourceType: 'Patient', externalId: 'kept-1' });
  await mailedLink(portico, 'invited@example.com');

  const name = [{ family: 'Kept', given: ['Petra'] }];
  const first = await put({ resourceType: 'Patient', active: true, name, birthDate: '1970-01-01' });
  const patient = await put({ ...first, gender: 'female' });
  const long = await put({ resourceType: 'Communication', status: 'completed', note: [{ text: longText }] });
  const gone = await put({ resourceType: 'Patient', name });
  await ask('DELETE', `fhir/R4/Patient/${gone.id}`);
  const binary = await ask('POST', 'fhir/R4/Binary', {
    body: new Uint8Array([0, 1, 254, 255]),
    headers: { 'content-type': 'image/png' },
  });

  const client = await ask('POST', `${admin}/client`, { body: { name: 'Night job' } });
  const bot = await botThat(portico, 'return "first"', { identifier: [identifier] });
  await ask('POST', `${admin}/bot/${bot}/secrets`, { body: [{ name: 'KEPT', valueString: 'kept secret' }] });
  await deploy(portico, bot, handler('console.log("ran"); return event.secrets.KEPT.valueString;'));
  await ask('POST', `fhir/R4/Bot/${bot}/$execute`, { body: {} });

  const woken = await botThat(
    portico,
    'await medplum.createResource({ resourceType: "Basic", code: { text: "woken" } });',
  );
  const subscription = await subscribe(portico, `Bot/${woken}`, 'Patient?active=true', {
    extension: [secret('signed with this')],
  });
  const off = newSubscription('https://example.org/', 'Observation', {
    status: 'off',
    channel: { header: ['Authorization: Basic kept'] },
  });
  const hook = await ask('POST', 'fhir/R4/Subscription', { body: off, headers: fhir });
  // What follows a write stands in the table as well.
  await pause(3_000);
  return {
    ...{ policy: policy.id, member: member.id, invited: invited.id, patient: patient.id },
    ...{ firstVersion: first.meta.versionId, long: long.id, gone: gone.id, binary: binary.id },
    ...{ client: client.id, clientSecret: client.secret, bot, woken, subscription, hook: hook.id },
  };
}
