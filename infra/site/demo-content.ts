import type { Stack } from '../local/stack.ts';

type Project = Stack['demo']['projects'][number];

/** What a clinic might have, made through the API, so that pictures of the app show something. */
export async function fillDemo({ baseUrl }: Stack, project: Project): Promise<{ botId: string }> {
  const { clientId, clientSecret, id } = project;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const tokens = await fetch(`${baseUrl}/oauth2/token`, { method: 'POST', body: form });
  const { access_token } = (await tokens.json()) as { access_token: string };

  const post = (path: string, body: object | string, contentType?: string) =>
    send('POST', path, body, contentType);

  /** Answers the id of what was made, if anything was. */
  async function send(method: string, path: string, body: object | string, contentType = 'application/json') {
    const answer = await fetch(`${baseUrl}/${path}`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, 'content-type': contentType },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return /json/.test(answer.headers.get('content-type') ?? '') ? String(JSON.parse(text).id ?? '') : '';
  }

  for (const [name, resource] of policies) {
    await post('fhir/R4/AccessPolicy', { resourceType: 'AccessPolicy', name, resource });
  }
  for (const [given, family] of [
    ['Amina', 'Diallo'],
    ['Jonas', 'Weber'],
    ['Mei', 'Tanaka'],
  ]) {
    await post('fhir/R4/Patient', { resourceType: 'Patient', name: [{ given: [given], family }] });
  }
  for (const [resourceType, firstName, lastName] of people) {
    const email = `${firstName}.${lastName}@example.org`.toLowerCase();
    await post(`admin/projects/${id}/invite`, { resourceType, firstName, lastName, email });
  }
  const botId = await post(`admin/projects/${id}/bot`, {
    name: 'Lab results',
    description: 'Files observations from HL7 v2 messages',
    identifier: [{ system: 'https://example.org/bots', value: 'lab-results' }],
  });
  const reminder = await post(`admin/projects/${id}/bot`, {
    name: 'Appointment reminder',
    description: 'Writes to patients',
  });
  await post(`fhir/R4/Bot/${reminder}/$deploy`, { code: reminderBot, filename: 'index.ts' });
  // It fails, so that the overview has something to say.
  await post(`fhir/R4/Bot/${reminder}/$execute`, {}).catch(() => undefined);
  await post(`admin/projects/${id}/client`, { name: 'Night import' });
  const source = await post('fhir/R4/Binary', labBot, 'text/typescript');
  await send(
    'PATCH',
    `fhir/R4/Bot/${botId}`,
    [{ op: 'replace', path: '/sourceCode/url', value: `Binary/${source}` }],
    'application/json-patch+json',
  );
  await post(`fhir/R4/Bot/${botId}/$deploy`, { code: labBot, filename: 'index.ts' });
  await post(`fhir/R4/Bot/${botId}/$execute`, { hello: 'world' });
  await post(`fhir/R4/Bot/${botId}/$execute`, 'hello', 'text/plain');
  return { botId };
}

const policies = [
  ['Laboratory', [{ resourceType: 'Observation' }, { resourceType: 'Patient', readonly: true }]],
  ['Reception', [{ resourceType: 'Patient' }, { resourceType: 'Appointment' }]],
] as const;

const people = [
  ['Practitioner', 'Grace', 'Hopper'],
  ['Practitioner', 'Rosalind', 'Franklin'],
  ['Patient', 'Jane', 'Doe'],
] as const;

const reminderBot = `export async function handler(): Promise<never> {
  throw new Error('No channel to write on');
}
`;

const labBot = `import type { BotEvent, MedplumClient } from '@medplum/core';

/** Answers a message, and says on the console whose it was. */
export async function handler(medplum: MedplumClient, event: BotEvent): Promise<unknown> {
  console.log('got', event.contentType);
  if (typeof event.input === 'string') return event.input.toUpperCase();
  if (event.contentType !== 'x-application/hl7-v2+er7') return event.input;
  console.log('patient', event.input.get('PID.5.1'));
  return event.input.buildAck();
}
`;
