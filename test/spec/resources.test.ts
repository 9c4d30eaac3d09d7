import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { until } from './subscribing.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4${path}`, {
    ...call,
    headers: {
      ...(call.body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
      ...call.headers,
    },
  });

const patient = { resourceType: 'Patient', name: [{ family: 'Okafor' }] };

async function created(body: { resourceType: string } & Record<string, unknown> = patient): Promise<string> {
  const answer = await fhir('POST', `/${body.resourceType}`, { body });
  expect(answer.status).toBe(201);
  return answer.json.id;
}

function issueOf({ json }: Answer): { code: string; expression?: string[]; details: { text: string } } {
  expect(json.resourceType).toBe('OperationOutcome');
  return json.issue[0];
}

describe('a resource over HTTP', () => {
  test('is created with Location, ETag and Last-Modified', async () => {
    const { status, headers, json } = await fhir('POST', '/Patient', { body: patient });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(
      `${portico.baseUrl}/fhir/R4/Patient/${json.id}/_history/${json.meta.versionId}`,
    );
    expect(headers.get('etag')).toBe(`W/"${json.meta.versionId}"`);
    expect(new Date(headers.get('last-modified') ?? '').getTime()).not.toBeNaN();
    const again = await fhir('GET', `/Patient/${json.id}`, {
      headers: { 'if-none-match': `W/"${json.meta.versionId}"` },
    });
    expect(again.status).toBe(304);
  });

  test('keeps the digits of a decimal', async () => {
    const text =
      '{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.50}}';
    const { json, text: answered } = await fhir('POST', '/Observation', { body: text });
    expect(answered).toContain('"value":1.50');
    const read = await fhir('GET', `/Observation/${json.id}`);
    expect(read.text).toContain('"value":1.50');
    const patch = [{ op: 'replace', path: '/status', value: 'amended' }];
    const patched = await fhir('PATCH', `/Observation/${json.id}`, {
      body: patch,
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(patched.text).toContain('"value":1.50');
  });

  test('answers what Prefer asks for', async () => {
    const minimal = await fhir('POST', '/Patient', { body: patient, headers: { prefer: 'return=minimal' } });
    expect([minimal.status, minimal.text]).toEqual([201, '']);
    expect(minimal.headers.get('location')).toContain('/Patient/');
    const outcome = await fhir('POST', '/Patient', {
      body: patient,
      headers: { prefer: 'return=OperationOutcome' },
    });
    expect(outcome.json.resourceType).toBe('OperationOutcome');
  });

  test('is gone after DELETE, and DELETE may be repeated', async () => {
    const id = await created();
    expect((await fhir('DELETE', `/Patient/${id}`)).status).toBe(200);
    expect((await fhir('DELETE', `/Patient/${id}`)).status).toBe(200);
    const gone = await fhir('GET', `/Patient/${id}`);
    expect([gone.status, issueOf(gone).code]).toEqual([410, 'deleted']);
    const history = await fhir('GET', `/Patient/${id}/_history`);
    expect(history.json.entry.map((entry: { request: { method: string } }) => entry.request.method)).toEqual([
      'DELETE',
      'POST',
    ]);
    const back = await fhir('PUT', `/Patient/${id}`, { body: { ...patient, id } });
    expect(back.status).toBe(201);
  });

  test('is updated only at the version that If-Match names', async () => {
    const id = await created();
    const stale = await fhir('PUT', `/Patient/${id}`, {
      body: { ...patient, id },
      headers: { 'if-match': 'W/"old"' },
    });
    expect(stale.status).toBe(412);
    const { versionId } = (await fhir('GET', `/Patient/${id}`)).json.meta;
    for (const tag of ['*', `W/"old", W/"${versionId}"`, `"${versionId}"`, versionId]) {
      const same = await fhir('PUT', `/Patient/${id}`, {
        body: { ...patient, id },
        headers: { 'if-match': tag },
      });
      expect([tag, same.status]).toEqual([tag, 200]);
    }
    const taken = await fhir('PUT', `/Patient/${id}`, {
      body: { ...patient, id },
      headers: { 'if-none-match': '*' },
    });
    expect(taken.status).toBe(412);
  });

  test('is refused with the element that is not valid R4', async () => {
    const wrong = await fhir('POST', '/Patient', {
      body: { ...patient, birthDate: 'yesterday', shoeSize: 44 },
    });
    expect(wrong.status).toBe(422);
    const expressions = wrong.json.issue.map((issue: { expression: string[] }) => issue.expression[0]);
    expect(expressions).toEqual(expect.arrayContaining(['Patient.birthDate', 'Patient.shoeSize']));
  });

  test.each([
    ['a type that is none', 'POST', '/Potato', patient, 404],
    ['another type than the URL', 'POST', '/Observation', patient, 400],
    ['another id than the URL', 'PUT', '/Patient/a', { ...patient, id: 'b' }, 400],
    ['an id that is none', 'PUT', '/Patient/a_b', patient, 400],
    ['no JSON', 'POST', '/Patient', '{"resourceType":"Patient",}', 400],
    ['an unknown search parameter', 'GET', '/Patient?shoe-size=44', undefined, 400],
    ['an unknown modifier', 'GET', '/Patient?family:soundex=x', undefined, 400],
    ['a cursor of something else', 'GET', '/Patient?_cursor=abc', undefined, 400],
    ['a conditional delete without condition', 'DELETE', '/Patient', undefined, 412],
    ['a resource that never was', 'GET', '/Patient/never', undefined, 404],
  ])('refuses %s', async (_what, method, path, body, status) => {
    const answer = await fhir(method, path, body === undefined ? {} : { body });
    expect(answer.status).toBe(status);
    issueOf(answer);
  });

  test('is taken 128 levels deep and refused at 129, for that alone', async () => {
    const deep = (levels: number) =>
      `{"resourceType":"Patient","name":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const refused = await fhir('POST', '/Patient', { body: deep(129) });
    expect([refused.status, issueOf(refused).details.text]).toEqual([400, 'JSON deeper than 128 levels']);
    expect((await fhir('POST', '/Patient', { body: deep(128) })).text).not.toContain('deeper');
  });

  test('refers to its own Project, and to no other', async () => {
    const basic = (id: string) => ({
      resourceType: 'Basic',
      code: { text: 'x' },
      subject: { reference: `Project/${id}` },
    });
    const own = String(portico.projects[0]?.id);
    expect((await fhir('POST', '/Basic', { body: basic(own) })).status).toBe(201);
    const refused = await fhir('POST', '/Basic', { body: basic(String(portico.projects[1]?.id)) });
    expect(refused.status).toBe(400);
    expect(issueOf(refused)).toMatchObject({
      details: { text: 'References to another project are not allowed' },
      expression: ['subject.reference'],
    });
  });

  test('is not taken in XML, nor compressed', async () => {
    for (const headers of [
      { 'content-type': 'application/fhir+xml' },
      { 'content-type': 'application/fhir+json', 'content-encoding': 'gzip' },
    ]) {
      expect((await fhir('POST', '/Patient', { body: '<Patient/>', headers })).status).toBe(415);
    }
  });

  test('is another Project’s plain 404', async () => {
    const id = await created();
    const token = await portico.token(portico.projects[1]);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/_history'],
      ['PATCH', ''],
    ] as const) {
      const body = method === 'PATCH' ? { body: [] } : {};
      expect((await fhir(method, `/Patient/${id}${path}`, { token, ...body })).status).toBe(404);
    }
    expect((await fhir('GET', `/Patient?_id=${id}`, { token })).json.entry).toBeUndefined();
  });
});

describe('conditional writes', () => {
  test('PUT by search creates, updates, and refuses several matches', async () => {
    const body = { ...patient, identifier: [{ value: 'conditional-1' }] };
    const first = await fhir('PUT', '/Patient?identifier=conditional-1', { body });
    expect(first.status).toBe(201);
    const second = await fhir('PUT', '/Patient?identifier=conditional-1', { body });
    expect([second.status, second.json.id]).toEqual([200, first.json.id]);
    await created(body);
    expect((await fhir('PUT', '/Patient?identifier=conditional-1', { body })).status).toBe(412);
    expect((await fhir('DELETE', '/Patient?identifier=conditional-1')).status).toBe(412);
    expect((await fhir('DELETE', `/Patient?identifier=conditional-1&_id=${first.json.id}`)).status).toBe(200);
    expect((await fhir('GET', '/Patient?identifier=conditional-1')).json.entry).toHaveLength(1);
  });

  test('If-None-Exist answers the one that exists', async () => {
    const body = { ...patient, identifier: [{ value: 'conditional-2' }] };
    const headers = { 'if-none-exist': 'identifier=conditional-2' };
    const first = await fhir('POST', '/Patient', { body, headers });
    const second = await fhir('POST', '/Patient', { body, headers });
    expect([first.status, second.status, second.json.id]).toEqual([201, 200, first.json.id]);
  });
});

describe('Bundles', () => {
  const entry = (resource: object, method = 'POST', url = 'Patient') => ({
    resource,
    request: { method, url },
  });
  const bundle = (type: string, entries: object[]) =>
    fhir('POST', '', { body: { resourceType: 'Bundle', type, entry: entries } });

  test('a transaction of 60 entries is all or nothing', async () => {
    const good = Array.from({ length: 60 }, (_, n) =>
      entry({ ...patient, identifier: [{ value: `t-${n}` }] }),
    );
    const done = await bundle('transaction', good);
    expect(done.status).toBe(200);
    expect(
      new Set(done.json.entry.map((one: { response: { status: string } }) => one.response.status)),
    ).toEqual(new Set(['201']));
    const failed = await bundle('transaction', [
      entry({ ...patient, identifier: [{ value: 'never' }] }),
      entry({ resourceType: 'Patient', gender: 7 }),
    ]);
    expect(failed.status).toBe(422);
    expect((await fhir('GET', '/Patient?identifier=never')).json.entry).toBeUndefined();
    expect((await fhir('GET', '/Patient?identifier=t-59')).json.entry).toHaveLength(1);
  });

  test('a transaction above the limit is refused clearly', async () => {
    const answer = await bundle(
      'transaction',
      Array.from({ length: 100 }, () => entry(patient)),
    );
    expect(answer.status).toBe(400);
    expect(issueOf(answer)).toMatchObject({
      code: 'too-costly',
      details: {
        text: 'A transaction changes at most 99 resources: npm run import loads Bundles of any size (docs/import.md)',
      },
    });
  });

  test('a batch has up to 500 entries', async () => {
    const entries = Array.from({ length: 501 }, () => ({ request: { method: 'GET', url: 'Potato' } }));
    const refused = await bundle('batch', entries);
    expect([refused.status, issueOf(refused).code, issueOf(refused).details.text]).toEqual([
      400,
      'too-costly',
      expect.stringContaining('A batch has at most 500 entries: npm run import'),
    ]);
    const { rest } = (await portico.api('GET', 'fhir/R4/metadata', { token: null })).json;
    expect(rest[0].interaction.slice(0, 2)).toEqual([
      { code: 'transaction', documentation: expect.stringContaining('at most 99 resources') },
      { code: 'batch', documentation: expect.stringContaining('at most 500 entries') },
    ]);
    const { status, json } = await bundle('batch', entries.slice(1));
    expect([status, json.entry.length]).toEqual([200, 500]);
  });

  test('a patch makes no record of more values than a body may hold', async () => {
    const name = [{ given: Array(35_000).fill('x') }];
    const { json } = await fhir('POST', '/Patient', { body: { resourceType: 'Patient', name } });
    const patched = await fhir('PATCH', `/Patient/${json.id}`, {
      body: [{ op: 'add', path: '/name/-', value: name[0] }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect([patched.status, issueOf(patched).code]).toEqual([400, 'too-costly']);
    expect(issueOf(patched).details.text).toContain('more than 60000 values');
  });

  test('a patch in a batch is no deeper than any other, however deep', async () => {
    const id = await created();
    const patchOf = (levels: number) => ({
      request: { method: 'PATCH', url: `Patient/${id}` },
      resource: {
        resourceType: 'Binary',
        contentType: 'application/json-patch+json',
        data: Buffer.from('['.repeat(levels) + ']'.repeat(levels)).toString('base64'),
      },
    });
    const { status, json } = await bundle('batch', [patchOf(129), patchOf(100_000)]);
    expect(status).toBe(200);
    for (const { response } of json.entry) {
      const text = response.outcome.issue[0].details.text;
      expect([response.status, text]).toEqual(['400', 'JSON deeper than 128 levels']);
    }
  });

  test('a batch is answered whatever it is refused for, at whatever length', async () => {
    const long = '@'.repeat(900_000);
    const entries = [
      { request: { method: 'GET', url: long } },
      { request: { method: long, url: 'Patient' } },
      { request: { method: 'GET', url: `Patient?${long}=1` } },
      { request: { method: 'GET', url: `Patient/${long}` } },
    ];
    const { status, json } = await bundle('batch', entries);
    expect([
      status,
      json.entry.map(({ response }: { response: { status: string } }) => response.status),
    ]).toEqual([200, ['404', '400', '400', '404']]);
  });

  test('a batch answers each entry for itself', async () => {
    const { json } = await bundle('batch', [
      entry(patient),
      entry({ resourceType: 'Patient', gender: 7 }),
      entry({}, 'DELETE', 'Patient/never'),
      entry({}, 'POST', 'Bot/$execute'),
    ]);
    const statuses = json.entry.map((one: { response: { status: string } }) => one.response.status);
    expect(statuses).toEqual(['201', '422', '200', '400']);
  });

  test('a conditional reference is replaced, a twice-named resource refused', async () => {
    await created({ ...patient, identifier: [{ value: 'ref-1' }] });
    const encounter = {
      resourceType: 'Encounter',
      status: 'planned',
      class: { code: 'AMB' },
      subject: { reference: 'Patient?identifier=ref-1' },
    };
    const { json } = await bundle('transaction', [entry(encounter, 'POST', 'Encounter')]);
    expect(json.entry[0].resource.subject.reference).toMatch(/^Patient\/[^?]+$/);
    const twice = entry({ ...patient, id: 'twice' }, 'PUT', 'Patient/twice');
    expect((await bundle('transaction', [twice, twice])).status).toBe(400);
  });
});

describe('search over HTTP', () => {
  test('POST _search keeps names out of the URL', async () => {
    const id = await created({ ...patient, name: [{ family: 'Quietly' }] });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, json } = await fhir('POST', '/Patient/_search', { body: 'family=quiet', headers });
    expect([status, json.entry[0].resource.id, json.entry[0].search.mode]).toEqual([200, id, 'match']);
  });

  test.each(['', 'nobody', 'a_b', '#', 'x'.repeat(3000)])(
    'a page of a POST _search that is none is refused: %.9s',
    async (token) => {
      const answer = await fhir('GET', `/Patient?_page=${encodeURIComponent(token)}`);
      expect([answer.status, issueOf(answer).expression]).toEqual([400, ['_page']]);
    },
  );

  test('the pages of a POST _search neither', async () => {
    await Promise.all(Array.from({ length: 3 }, () => created({ ...patient, name: [{ family: 'Hushed' }] })));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const seen = new Set<string>();
    let page = await fhir('POST', '/Patient/_search', { body: 'family=hushed&_count=2', headers });
    for (;;) {
      for (const { resource } of page.json.entry) seen.add(resource.id);
      const urls = page.json.link.map(({ url }: { url: string }) => url) as string[];
      for (const url of urls) {
        expect(url).not.toMatch(/hushed/i);
        expect(Buffer.from(url.split('=')[1] ?? '', 'base64url').toString()).not.toMatch(/hushed/i);
      }
      const next = page.json.link.find(({ relation }: { relation: string }) => relation === 'next')
        ?.url as string;
      if (!next) break;
      const path = next.slice(`${portico.baseUrl}/fhir/R4`.length);
      expect((await fhir('GET', path, { token: await portico.token(portico.projects[1]) })).status).toBe(400);
      page = await fhir('GET', path);
    }
    expect(seen.size).toBe(3);
  });

  test('a cursor of one Project is refused in another', async () => {
    await Promise.all([created(), created()]);
    const { json } = await fhir('GET', '/Patient?_count=1');
    const next = json.link.find((link: { relation: string }) => link.relation === 'next').url as string;
    const path = next.slice(`${portico.baseUrl}/fhir/R4`.length);
    expect((await fhir('GET', path)).json.entry).toHaveLength(1);
    expect((await fhir('GET', path, { token: await portico.token(portico.projects[1]) })).status).toBe(400);
  });

  test('what was audited is found by what it was done to', async () => {
    const id = await created();
    // Its index items come with the stream.
    const [entry] = await until(
      async () => (await fhir('GET', `/AuditEvent?entity=Patient/${id}`)).json.entry,
      'what was audited',
    );
    expect(entry.resource.entity[0].what.reference).toBe(`Patient/${id}`);
  });

  test('_fields answers the named elements alone', async () => {
    const id = await created({ ...patient, gender: 'other' });
    const { json } = await fhir('GET', `/Patient?_id=${id}&_fields=gender`);
    expect(Object.keys(json.entry[0].resource)).toEqual(['resourceType', 'id', 'meta', 'gender']);
  });
});

describe('Binary', () => {
  test('is never a page of our origin', async () => {
    const html = await fhir('POST', '/Binary', {
      body: '<script>alert(1)</script>',
      headers: { 'content-type': 'text/html' },
    });
    expect(html.status).toBe(201);
    const { headers, text } = await fhir('GET', `/Binary/${html.json.id}`, { headers: { accept: '*/*' } });
    expect(text).toBe('<script>alert(1)</script>');
    expect(headers.get('content-disposition')).toBe('attachment');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('in a Bundle is the same as one by itself', async () => {
    const id = `bytes-${randomUUID()}`;
    const resource = { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVsbG8=' };
    const entry = [
      { request: { method: 'POST', url: 'Binary' }, resource },
      { request: { method: 'PUT', url: `Binary/${id}` }, resource: { ...resource, id } },
    ];
    const { json } = await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } });
    for (const one of json.entry) {
      const path = `/Binary/${one.resource.id}`;
      expect((await fhir('GET', path, { headers: { accept: '*/*' } })).text).toBe('hello');
      const asFhir = await fhir('GET', path, { headers: { accept: 'application/fhir+json' } });
      expect(asFhir.json.data).toBe(resource.data);
    }
  });

  test('keeps its labels and whose it is when only its bytes are sent', async () => {
    const { json: patient } = await fhir('POST', '/Patient', { body: { resourceType: 'Patient' } });
    const kept = {
      meta: { tag: [{ system: 'urn:tags', code: 'kept' }] },
      securityContext: { reference: `Patient/${patient.id}` },
    };
    const body = { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVsbG8=', ...kept };
    const { json } = await fhir('POST', '/Binary', { body });
    const put = (headers: Record<string, string>) =>
      fhir('PUT', `/Binary/${json.id}`, {
        body: 'more',
        headers: { 'content-type': 'text/markdown', ...headers },
      });
    const answer = await put({});
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({
        contentType: 'text/markdown',
        securityContext: kept.securityContext,
        meta: expect.objectContaining(kept.meta),
      }),
    ]);
    expect((await fhir('GET', `/Binary/${json.id}`, { headers: { accept: '*/*' } })).text).toBe('more');
    const own = `Project/${portico.projects[0]?.id}`;
    const moved = await put({ 'x-security-context': own });
    expect(moved.json.securityContext).toEqual({ reference: own });
  });

  test('holds 4 MiB and not a byte more', async () => {
    const bytes = new Uint8Array(4 * 1024 * 1024).map((_, n) => (n * 31) % 251);
    const headers = { 'content-type': 'image/png' };
    const made = await fhir('POST', '/Binary', { body: bytes, headers });
    expect(made.status).toBe(201);
    const response = await fetch(made.json.url, {
      headers: { authorization: `Bearer ${await portico.token()}` },
    });
    expect(Buffer.compare(new Uint8Array(await response.arrayBuffer()), bytes)).toBe(0);
    expect(response.headers.get('content-disposition')).toBeNull();
    const more = new Uint8Array(4 * 1024 * 1024 + 1);
    expect((await fhir('POST', '/Binary', { body: more, headers })).status).toBe(413);
  });
});

describe('the rules of Portico’s own types', () => {
  test.each([
    ['User', 'invite'],
    ['ProjectMembership', 'invite'],
    ['Bot', 'admin/projects/<id>/bot'],
    ['ClientApplication', 'admin/projects/<id>/client'],
    ['AuditEvent', 'system'],
    ['Project', 'provision'],
  ])('%s is not created here, and the answer says where', async (resourceType, where) => {
    for (const [method, path] of [
      ['POST', `/${resourceType}`],
      ['PUT', `/${resourceType}/new-one`],
    ] as const) {
      const answer = await fhir(method, path, { body: { resourceType } });
      expect(answer.status).toBe(403);
      expect(issueOf(answer).details.text).toContain(where);
    }
  });

  test('a membership is not changed, nor deleted, nor patched', async () => {
    const { json } = await fhir('GET', '/ProjectMembership?profile-type=ClientApplication');
    const membership = json.entry[0].resource;
    const path = `/ProjectMembership/${membership.id}`;
    const patch = {
      body: [{ op: 'remove', path: '/admin' }],
      headers: { 'content-type': 'application/json-patch+json' },
    };
    for (const answer of await Promise.all([
      fhir('PUT', path, { body: membership }),
      fhir('PATCH', path, patch),
      fhir('DELETE', path),
    ])) {
      expect(answer.status).toBe(403);
      expect(issueOf(answer).details.text).toContain('admin/projects/<id>/members');
    }
  });

  test('a bound profile is deleted in no way', async () => {
    const [project] = portico.projects;
    const invited = await portico.api('POST', `admin/projects/${project?.id}/invite`, {
      body: {
        resourceType: 'Practitioner',
        firstName: 'A',
        lastName: 'B',
        email: 'bound@example.com',
        sendEmail: false,
      },
    });
    const reference = invited.json.profile.reference as string;
    const id = reference.split('/')[1];
    expect((await fhir('DELETE', `/${reference}`)).status).toBe(409);
    expect((await fhir('DELETE', `/Practitioner?_id=${id}`)).status).toBe(409);
    const entry = [{ request: { method: 'DELETE', url: reference } }];
    expect(
      (await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status,
    ).toBe(409);
    const batch = await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } });
    expect(batch.json.entry[0].response.status).toBe('409');
    expect((await fhir('PUT', `/${reference}`, { body: { ...patient, id } })).status).toBe(400);
    expect((await fhir('GET', `/${reference}`)).status).toBe(200);
  });

  test('a Bot’s identifiers stay unique on update, and its end frees them', async () => {
    const [project] = portico.projects;
    const make = (identifier: object[]) =>
      portico.api('POST', `admin/projects/${project?.id}/bot`, { body: { name: 'B', identifier } });
    const [one, other] = [
      (await make([{ system: 'urn:b', value: '1' }])).json,
      (await make([{ system: 'urn:b', value: '2' }])).json,
    ];
    const move = (bot: { id: string }, value: string) =>
      fhir('PUT', `/Bot/${bot.id}`, { body: { ...bot, identifier: [{ system: 'urn:b', value }] } });
    expect((await move(other, '1')).status).toBe(409);
    expect((await move(other, '3')).status).toBe(200);
    expect((await make([{ system: 'urn:b', value: '2' }])).status).toBe(201);
    expect((await fhir('DELETE', `/Bot/${one.id}`)).status).toBe(200);
    expect((await move(other, '1')).status).toBe(200);
    const memberships = await fhir('GET', `/ProjectMembership?profile=Bot/${one.id}`);
    expect(memberships.json.entry).toBeUndefined();
  });

  test('a client’s end takes its membership and its secret with it', async () => {
    const [project] = portico.projects;
    const made = await portico.api('POST', `admin/projects/${project?.id}/client`, { body: { name: 'C' } });
    expect((await fhir('DELETE', `/ClientApplication/${made.json.id}`)).status).toBe(200);
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: made.json.id,
      client_secret: made.json.secret,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const token = await portico.api('POST', 'oauth2/token', { token: null, body: body.toString(), headers });
    expect(token.status).toBeGreaterThanOrEqual(400);
  });

  test('a policy that cannot be understood is refused', async () => {
    const policy = (resource: object[]) =>
      fhir('POST', '/AccessPolicy', { body: { resourceType: 'AccessPolicy', name: 'P', resource } });
    expect((await policy([{ resourceType: 'Patient', criteria: 'Patient?shoe-size=44' }])).status).toBe(400);
    expect((await policy([{ resourceType: 'Patient', criteria: 'Observation?code=x' }])).status).toBe(422);
    expect((await policy([{ resourceType: 'Potato' }])).status).toBe(400);
    expect((await policy([{ resourceType: 'Patient', criteria: 'Patient?_id=%profile.id' }])).status).toBe(
      201,
    );
  });
});

describe('paths', () => {
  test('that are none are 404, under another method 405 with Allow', async () => {
    const none = await portico.api('GET', 'nothing/here', { token: null });
    expect([none.status, issueOf(none).code]).toEqual([404, 'not-found']);
    for (const [method, path, allow] of [
      ['GET', 'fhir/R4/Bot/$execute', 'POST'],
      ['GET', 'fhir/R4/Bot/x/$execute', 'POST'],
      ['POST', 'fhir/R4/Patient/x', 'GET, PUT, PATCH, DELETE'],
    ] as const) {
      const answer = await portico.api(method, path);
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allow]);
    }
  });

  test('metadata says what there is, to everybody', async () => {
    const { status, json } = await portico.api('GET', 'fhir/R4/metadata', { token: null });
    expect([status, json.resourceType, json.fhirVersion]).toEqual([200, 'CapabilityStatement', '4.0.1']);
    const resources = json.rest[0].resource as { type: string; searchParam: { name: string }[] }[];
    const found = resources.find(({ type }) => type === 'Patient')?.searchParam.map(({ name }) => name);
    expect(found).toEqual(expect.arrayContaining(['_id', 'birthdate', 'family', 'identifier']));
  });
});
