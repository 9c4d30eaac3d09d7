import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient } from '@medplum/core';
import { fhirCalls } from './fhir-calls.ts';
import { type Answer, type Portico, requestToken, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, projectOf } from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());
const { created, changed } = fhirCalls(() => portico);

const prefer = { prefer: 'respond-async' };
const all = 'includeAssociatedData=_history,_code,_people';

function begin(query = '', token?: string): Promise<Answer> {
  return portico.api('GET', `fhir/R4/$export?${query}`, { headers: prefer, ...(token ? { token } : {}) });
}

/** Where to ask how far it is. */
function locationOf(answer: Answer): string {
  expect([answer.status, answer.text]).toEqual([202, expect.stringContaining('accepted')]);
  return String(answer.headers.get('content-location'));
}

async function ended(answer: Answer, token?: string): Promise<Answer> {
  const path = locationOf(answer);
  return until(async () => {
    const found = await portico.api('GET', path, token ? { token } : {});
    if (found.status !== 202) return found;
    expect(found.headers.get('x-progress')).toMatch(/^accepted$|^\d+ resources in \d+ files$/);
    expect(Number(found.headers.get('retry-after'))).toBeGreaterThan(0);
    return undefined;
  }, 'the end of the export');
}

type Output = { type: string; url: string; count: number };

async function linesOf(outputs: Output[], token?: string): Promise<Map<string, { id: string }[]>> {
  const files = new Map();
  for (const { url, count } of outputs) {
    const file = await portico.api('GET', url, token ? { token } : {});
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/fhir+ndjson']);
    const lines = file.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(count);
    files.set(url.split('/').at(-1), lines);
  }
  return files;
}

/** Programs with scopes, which administer nothing. */
async function systemToken(scope: string, fields: Record<string, unknown> = {}): Promise<string> {
  const { id, secret } = await createClient(portico, fields);
  const body = new URLSearchParams({
    ...{ grant_type: 'client_credentials', client_id: id, client_secret: secret, scope },
  });
  const answer = await portico.api('POST', 'oauth2/token', {
    ...{ token: null, body: body.toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return answer.json.access_token;
}

const deeds = async () => {
  const { json } = await portico.api('GET', 'fhir/R4/AuditEvent?_count=1000&_sort=-date');
  return json.entry.map(
    ({ resource }: { resource: { subtype: { code: string }[] } }) => resource.subtype[0]?.code,
  );
};

describe('an export of a Project', () => {
  test('gives all of it in files, for its administrators alone, and tells of it in the audit log', async () => {
    const patient = await created({ resourceType: 'Patient', name: [{ family: 'Export' }] });
    await changed('Patient', patient, { active: true });
    const bytes = Buffer.from('bytes of a Binary');
    const binary = await portico.api('POST', 'fhir/R4/Binary', {
      body: bytes.toString(),
      headers: { 'content-type': 'text/plain' },
    });
    const bot = await botThat(portico, 'return "exported code"');
    // Somebody whom another Project knows, and who has not joined this one.
    const invited = {
      resourceType: 'Practitioner',
      firstName: 'Known',
      lastName: 'Elsewhere',
      sendEmail: false,
    };
    for (const project of [projectOf(portico, 1), projectOf(portico, 0)]) {
      const body = { ...invited, email: 'elsewhere@example.org' };
      const token = await portico.token(project);
      const answer = await portico.api('POST', `admin/projects/${project.id}/invite`, { token, body });
      expect(answer.status).toBe(200);
    }
    const manifest = await ended(await begin(all));
    expect([manifest.status, manifest.json]).toMatchObject([
      200,
      {
        transactionTime: expect.stringMatching(/Z$/),
        request: `${portico.baseUrl}/fhir/R4/$export?includeAssociatedData=_history%2C_code%2C_people`,
        requiresAccessToken: true,
        deleted: [],
        error: [],
      },
    ]);
    expect(Date.parse(String(manifest.headers.get('expires')))).toBeGreaterThan(Date.now() + 6 * 86_400_000);
    const files = await linesOf(manifest.json.output);
    const inFile = (name: string, id: string) => files.get(name)?.find((one) => one.id === id);
    expect(inFile('Patient-1.ndjson', patient)).toMatchObject({ active: true });
    expect(inFile('Patient.history-1.ndjson', patient)).not.toHaveProperty('active');
    expect(inFile('Binary-1.ndjson', binary.json.id)).toMatchObject({ data: bytes.toString('base64') });
    expect(JSON.stringify(files.get('BotCode-1.ndjson'))).toContain(bot);
    expect(files.get('ProjectMembership-1.ndjson')?.length).toBeGreaterThan(1);
    expect(files.get('User-1.ndjson')?.[0]).toMatchObject({ resourceType: 'User' });
    expect(JSON.stringify(files.get('User-1.ndjson'))).not.toContain('elsewhere@example.org');
    expect(files.get('AuditEvent-1.ndjson')?.length).toBeGreaterThan(1);
    const everything = JSON.stringify([...files.values()]);
    expect(everything).not.toContain(projectOf(portico, 1).id);
    expect(everything).not.toMatch(/"(?:hash|secretHash|seed|secret)":/);
    const entries = await deeds();
    expect(entries.filter((code: string) => code === 'fetch-export')).toHaveLength(
      manifest.json.output.length,
    );
    expect(entries).toEqual(expect.arrayContaining(['begin-export', 'end-export']));

    const access = await readFile(join(portico.local.dataDir, 'access.jsonl'), 'utf8');
    const fetched = access.split('\n').filter((line) => line.includes('/bulkdata/export/{id}/{file}'));
    expect(fetched.join()).toContain(`"patients":["Patient/${patient}"`);

    const other = await portico.token(projectOf(portico, 1));
    const member = (await createClient(portico)).token;
    const status = manifest.json.output[0].url.replace(/\/[^/]*$/, '');
    for (const path of [status, manifest.json.output[0].url]) {
      for (const token of [other, member]) {
        expect((await portico.api('GET', path, { token })).status).toBe(404);
      }
      expect((await portico.api('GET', path, { token: null })).status).toBe(401);
    }
    expect((await portico.api('DELETE', status, { token: other })).status).toBe(404);
    expect((await begin('', member)).status).toBe(403);

    expect((await portico.api('DELETE', status)).status).toBe(202);
    for (const path of [status, manifest.json.output[0].url]) {
      expect((await portico.api('GET', path)).status).toBe(404);
    }
    expect((await portico.api('DELETE', status)).status).toBe(404);
    expect(await deeds()).toContain('cancel-export');
  });

  test('tells what changed and what was deleted since the one before, and goes on one at a time', async () => {
    const first = await ended(await begin('_type=Patient'));
    const gone = await created({ resourceType: 'Patient' });
    const stays = await created({ resourceType: 'Patient' });
    await portico.api('DELETE', `fhir/R4/Patient/${gone}`);
    const query = `_type=Patient&_since=${first.json.transactionTime}&_outputFormat=application/fhir%2Bndjson`;
    const three = await Promise.all([begin(query), begin(query), begin(query)]);
    expect(three.map(({ status }) => status).sort()).toEqual([202, 429, 429]);
    const refused = three.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const accepted = three.find(({ status }) => status === 202);
    const { json } = await ended(accepted as Answer);
    const ids = [...(await linesOf(json.output)).values()].flat().map(({ id }) => id);
    expect(ids).toContain(stays);
    expect(ids).not.toContain(gone);
    expect(JSON.stringify([...(await linesOf(json.deleted)).values()])).toContain(
      `{"method":"DELETE","url":"Patient/${gone}"}`,
    );
  });

  test('of a program with system scopes is of the types that it reads all of, and ends with its membership', async () => {
    await created({ resourceType: 'Patient' });
    const token = await systemToken('system/Patient.rs system/Binary.rs');
    expect((await begin('_type=Observation', token)).status).toBe(403);
    // What a Binary belongs to may close it.
    expect((await begin('_type=Binary', token)).status).toBe(403);
    expect((await begin(all, token)).status).toBe(403);
    const narrow = await systemToken('system/Patient.rs?gender=male');
    expect((await begin('_type=Patient', narrow)).status).toBe(403);
    const { json } = await ended(await begin('', token), token);
    expect([...new Set(json.output.map(({ type }: Output) => type))]).toEqual(['Patient']);
    await linesOf(json.output, token);
    const { json: me } = await portico.api('GET', 'auth/me', { token });
    const path = `admin/projects/${projectOf(portico, 0).id}/members/${me.membership.id}`;
    expect((await portico.api('POST', path, { body: { active: false } })).status).toBe(200);
    expect((await portico.api('GET', json.output[0].url, { token })).status).toBe(401);
    // Administrators may have it on.
    expect((await portico.api('GET', json.output[0].url)).status).toBe(200);
  });

  test('of an administrator with a policy is of the types that it opens whole, and so are the files they fetch', async () => {
    for (const resourceType of ['Patient', 'Basic']) {
      await created({ resourceType, ...(resourceType === 'Basic' ? { code: { text: 'closed' } } : {}) });
    }
    const rules = [{ resourceType: 'Patient' }, { resourceType: 'Basic', criteria: 'Basic?code=open' }];
    const accessPolicy = await createPolicy(portico, rules);
    const { token } = await createClient(portico, { admin: true, accessPolicy });
    expect((await begin('_type=Basic', token)).status).toBe(403);
    expect((await begin('_type=Binary', token)).status).toBe(403);
    const own = await ended(await begin('', token), token);
    expect([...new Set(own.json.output.map(({ type }: Output) => type))]).toEqual(['Patient']);
    await linesOf(own.json.output, token);
    const begun = await begin('_type=Basic,Patient&includeAssociatedData=_history,_people');
    const whole = await ended(begun);
    // How much there is of a type is part of the manifest.
    expect((await portico.api('GET', locationOf(begun), { token })).status).toBe(403);
    for (const { type, url } of whole.json.output) {
      expect([type, (await portico.api('GET', url, { token })).status]).toEqual([
        type,
        type === 'Basic' ? 403 : 200,
      ]);
    }
  });

  test.each([
    ['no Prefer', '', {}],
    ['a type that is none', '_type=Potato', prefer],
    ['another format', '_outputFormat=text/csv', prefer],
    ['no type', '_type=', prefer],
    ['a day for an instant', '_since=2026-01-01', prefer],
    ['a second that no minute has', '_since=2016-12-31T23:59:60Z', prefer],
    ['an instant that has not come', '_since=2999-01-01T00:00:00Z', prefer],
    ['one that has not come, west of Greenwich', '_since=9999-12-31T23:59:59-12:00', prefer],
    ['a parameter that is not known', '_typeFilter=Patient%3Fgender%3Dmale', prefer],
    ['other data', 'includeAssociatedData=LatestProvenanceResources', prefer],
  ])('is refused with %s', async (_, query, headers) => {
    const answer = await portico.api('GET', `fhir/R4/$export?${query}`, { headers });
    expect([answer.status, answer.json.resourceType]).toEqual([400, 'OperationOutcome']);
  });

  test('is what a MedplumClient fetches, and comes as it is to who takes no gzip; a large Binary does not', async () => {
    const bytes = Buffer.alloc(3_700_000, 'large binary ');
    await portico.api('POST', 'fhir/R4/Binary', {
      body: bytes.toString(),
      headers: { 'content-type': 'text/plain' },
    });
    const medplum = new MedplumClient({ baseUrl: portico.baseUrl, fetch });
    const { clientId, clientSecret } = projectOf(portico, 0);
    medplum.setAccessToken(await requestToken(portico.baseUrl, clientId, clientSecret));
    const manifest = await medplum.bulkExport('', 'Patient,Binary', undefined, {
      pollStatusOnAccepted: true,
    });
    const large = manifest.output?.filter(({ type }) => type === 'Binary') ?? [];
    const sizes = [];
    for (const { url } of large) {
      const plain = await portico.api('GET', String(url), { headers: { 'accept-encoding': 'identity' } });
      const gzipped = await portico.api('GET', String(url), { headers: { 'accept-encoding': 'gzip' } });
      expect(gzipped.status).toBe(200);
      sizes.push(plain.status);
      if (plain.status === 200) expect(plain.text).toBe(gzipped.text);
    }
    expect(new Set(sizes)).toEqual(new Set([200, 406]));
  });
});
