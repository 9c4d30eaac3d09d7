import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { botThat, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});

afterAll(() => portico.stop());

function execute(botId: string, input: unknown = {}, headers: Record<string, string> = {}) {
  return portico.api('POST', `fhir/R4/Bot/${botId}/$execute`, { body: input, headers });
}

describe('the client inside a Bot', () => {
  test('creates, reads and finds resources of its own Project, as the Bot', async () => {
    const botId = await botThat(
      portico,
      `const made = await medplum.createResource({ resourceType: 'Patient', name: [{ family: event.input.family }] });
       const read = await medplum.readResource('Patient', made.id);
       return { id: made.id, family: read.name[0].family, author: read.meta.author?.reference };`,
    );
    const answer = await execute(botId, { family: 'Inside' });
    expect(answer.json).toMatchObject({ family: 'Inside', author: `Bot/${botId}` });
    const seen = await portico.api('GET', `fhir/R4/Patient/${answer.json.id}`);
    expect(seen.json.name[0].family).toBe('Inside');
  });

  test('has the rights of the Bot, never those of the administrator who runs it', async () => {
    const project = projectOf(portico, 0);
    const botId = await botThat(
      portico,
      `const status = async (path, method, body) => {
         const answer = await fetch('${portico.baseUrl}/' + path, { method, body, headers: { 'content-type': 'application/json' } });
         return answer.status;
       };
       return [
         await status('admin/projects/${project.id}/members/x', 'GET'),
         await status('admin/projects/${project.id}/bot', 'POST', '{"name":"Evil"}'),
         await status('auth/me', 'GET'),
         await status('fhir/R4/AccessPolicy', 'POST', '{"resourceType":"AccessPolicy"}'),
       ];`,
    );
    expect((await execute(botId)).json).toEqual([403, 403, 200, 403]);
  });

  test('acts on behalf of nobody', async () => {
    const botId = await botThat(
      portico,
      `const send = async (path, init = {}) => {
         const headers = { ...init.headers, 'X-Medplum-On-Behalf-Of': event.requester.reference };
         const answer = await fetch('${portico.baseUrl}/fhir/R4/' + path, { ...init, headers });
         return [answer.status, (await answer.json()).issue[0].details.text];
       };
       const body = JSON.stringify({ resourceType: 'Patient' });
       const headers = { 'content-type': 'application/fhir+json' };
       return [await send('Patient?_count=1'), await send('Patient', { method: 'POST', body, headers })];`,
    );
    const refused = [400, 'X-Medplum-On-Behalf-Of is not supported'];
    expect((await execute(botId)).json).toEqual([refused, refused]);
  });

  test('sees nothing of another Project', async () => {
    const other = projectOf(portico, 1);
    const made = await portico.api('POST', 'fhir/R4/Patient', {
      token: await portico.token(other),
      body: { resourceType: 'Patient' },
    });
    expect(made.status).toBe(201);
    const botId = await botThat(
      portico,
      `return (await medplum.readResource('Patient', event.input.id)).id;`,
    );
    expect((await execute(botId, { id: made.json.id })).status).toBe(404);
  });

  test('never holds the token', async () => {
    const botId = await botThat(
      portico,
      `return { token: String(medplum.getAccessToken()), authorization: event.headers.authorization ?? null };`,
    );
    const { json } = await execute(botId);
    expect(json.token).not.toContain('run.');
    expect(json.token.split('.').length).toBe(1);
    expect(json.authorization).toBeNull();
  });
});

describe('Bots that call Bots', () => {
  test('a Bot gets the answer of the Bot that it calls', async () => {
    const inner = await botThat(
      portico,
      `return { doubled: event.input.n * 2, by: event.requester.reference };`,
    );
    const outer = await botThat(
      portico,
      `return medplum.executeBot(event.input.inner, { n: 21 }, 'application/json');`,
    );
    expect((await execute(outer, { inner })).json).toEqual({ doubled: 42, by: `Bot/${outer}` });
  });

  test('a Bot that calls itself stops at the depth limit, with a 4xx', async () => {
    const botId = await botThat(
      portico,
      `return medplum.executeBot(event.bot.reference.split('/')[1], event.input, 'application/json');`,
      { timeout: 25 },
    );
    const answer = await execute(botId);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/deep/);
    expect(answer.json.id).toBe('too-deep');
  });
});
