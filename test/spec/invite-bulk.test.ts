import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isAuditEvent, storedResource } from '../storage/stored.ts';
import { asStored, expectRefused, type Inviting, inviting, person } from './inviting.ts';
import { type Answer, isDeployed, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

function bulk(body: unknown, headers: Record<string, string> = {}) {
  return portico.api('POST', `admin/projects/${at.project}/invite/bulk`, { body, headers });
}

const csv = { 'content-type': 'text/csv' };
const header = 'resourceType,firstName,lastName,email,sendEmail';
const address = () => `bulk-${randomUUID()}@example.com`;

describe('POST admin/projects/<id>/invite/bulk', () => {
  test('invites each row of a JSON array, and says what became of it', async () => {
    const bodies = [person(), person({ email: 'none' }), person({ resourceType: 'Patient' }), 'no object'];
    const answer = await bulk(bodies);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.json).toMatchObject({
      invited: 2,
      refused: 2,
      results: [
        { row: 1, status: 200, membership: { resourceType: 'ProjectMembership', active: false } },
        { row: 2, status: 400, outcome: { issue: [{ expression: ['email'] }] } },
        { row: 3, status: 200, membership: { profile: { reference: expect.stringMatching(/^Patient\//) } } },
        { row: 4, status: 400, outcome: { resourceType: 'OperationOutcome' } },
      ],
    });
  });

  test('takes a spreadsheet’s CSV: byte order mark, CRLF, quotes, an empty row', async () => {
    const lines = [
      header,
      `Patient,"Lee, Ann",Möller,${address()},false`,
      ',,,,',
      `Patient,Bo,Li,${address()},FALSE`,
    ];
    const answer = await bulk(`\ufeff${lines.join('\r\n')}\r\n`, csv);
    expect(answer.json.results.map(({ row, status }: never) => [row, status])).toEqual([
      [1, 200],
      [3, 200],
    ]);
    expect(answer.json.results[0].membership.user.display).toBe('Lee, Ann Möller');
  });

  test('keeps a formula as the text that it is', async () => {
    const name = `=HYPERLINK("http://evil.example","x")`;
    const answer = await bulk(
      `${header}\nPatient,"${name.replaceAll('"', '""')}",=1+1,${address()},false`,
      csv,
    );
    const { profile } = answer.json.results[0].membership;
    expect(profile.display).toBe(`${name} =1+1`);
    const read = await portico.api('GET', `fhir/R4/${profile.reference}`);
    expect(read.json.name).toEqual([{ given: [name], family: '=1+1' }]);
  });

  test('refuses line ends and control characters in a name, and lets the other rows in', async () => {
    const answer = await bulk(
      `${header}\nPatient,"Ann\nBcc: x@example.com",Lee,${address()},false\nPatient,Bo,Li,${address()},false`,
      csv,
    );
    expect(answer.json.results).toMatchObject([
      { status: 400, outcome: { issue: [{ expression: ['firstName'] }] } },
      { status: 200 },
    ]);
  });

  test('a person who is there twice is one member', async () => {
    const one = person();
    const { json } = await bulk([one, { ...one, email: one.email.toUpperCase() }, one]);
    expect(json.results.map(({ status }: { status: number }) => status)).toEqual([200, 200, 200]);
    expect(new Set(json.results.map(({ membership }: never) => (membership as { id: string }).id)).size).toBe(
      1,
    );
  });

  test('sent again answers the same memberships', async () => {
    const bodies = Array.from({ length: 20 }, () => person());
    const first = await bulk(bodies);
    const again = await bulk(bodies);
    const stored = ({ json }: Answer) =>
      json.results.map(({ membership }: { membership: unknown }) => asStored(membership));
    expect(stored(first)).toHaveLength(20);
    expect(stored(again)).toEqual(stored(first));
  });

  test('a row goes wrong as it would alone: an active member, a policy of another Project', async () => {
    const other = await portico.token(portico.projects[1]);
    const policy = await at.create({ resourceType: 'AccessPolicy' }, other);
    const { json } = await bulk([
      person({ email: portico.projects[0]?.admin.email }),
      person({ accessPolicy: { reference: policy } }),
    ]);
    expect(json.results).toMatchObject([
      { status: 409, outcome: { id: 'conflict' } },
      { status: 400, outcome: { issue: [{ expression: ['accessPolicy'] }] } },
    ]);
  });

  test('200 rows, not one more', async () => {
    const bodies = Array.from({ length: 200 }, () => person());
    // A slow machine leaves rows over: they are there to be sent again.
    let answer = await bulk(bodies);
    for (let attempt = 0; attempt < 8 && answer.json.refused > 0; attempt++) {
      const statuses = answer.json.results.map(({ status }: { status: number }) => status);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      answer = await bulk(bodies);
    }
    expect(answer.json).toMatchObject({ invited: 200, refused: 0 });
    const more = await bulk(Array.from({ length: 201 }, () => person()));
    expectRefused(more, 413, 'At most 200 rows');
  }, 240_000);

  test.each<[string, unknown, Record<string, string>, number]>([
    ['an object', person(), {}, 400],
    ['broken JSON', '[', { 'content-type': 'application/json' }, 400],
    ['no rows', [], {}, 400],
    ['an unknown column', `${header},polcy\n`, csv, 400],
    ['an open quote', `${header}\n"Patient`, csv, 400],
    ['another content type', header, { 'content-type': 'text/tab-separated-values' }, 415],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x5b, 0xff, 0x5d]),
      { 'content-type': 'application/fhir+json' },
      400,
    ],
  ])('refuses %s as a whole', async (_, body, headers, status) => {
    const answer = await bulk(body, headers);
    expect([answer.status, answer.json.resourceType]).toEqual([status, 'OperationOutcome']);
  });

  test('is the administrators’ own', async () => {
    const token = await portico.token(portico.projects[1]);
    const path = `admin/projects/${at.project}/invite/bulk`;
    expect((await portico.api('POST', path, { body: [person()], token })).status).toBe(403);
    expect((await portico.api('POST', path, { body: 'x', headers: csv, token })).status).toBe(403);
    expect((await portico.api('POST', path, { body: [person()], token: null })).status).toBe(401);
  });

  test('with an Idempotency-Key answers again what it did', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const bodies = [person(), person({ email: 'none' })];
    const first = await bulk(bodies, headers);
    const second = await bulk(bodies, headers);
    expect(second.json).toEqual(first.json);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect((await bulk([person()], headers)).status).toBe(422);
  });

  if (!isDeployed) {
    test('rows that were refused leave one AuditEvent', async () => {
      const traces = async () =>
        (await portico.local.scan()).filter((item) => {
          const text = isAuditEvent(item) ? JSON.stringify(storedResource(item)) : '';
          return /"refused"/.test(text) && /invite/.test(text);
        });
      const before = (await traces()).length;
      await bulk([person(), person({ email: 'none' }), person({ email: 'none' })]);
      const after = await traces();
      expect(after).toHaveLength(before + 1);
      await bulk([person(), person()]);
      expect(await traces()).toHaveLength(before + 1);
    });

    test('mails go to those who were invited, once', async () => {
      const [first, second] = [person({ sendEmail: true }), person({ sendEmail: true })];
      await bulk([first, second, first, person({ email: 'none' })]);
      for (const { email } of [first, second]) {
        await portico.local.mailbox.waitFor(({ to }) => to.includes(email), 25_000);
      }
      const mails = await portico.local.mailbox.list();
      expect(mails.filter(({ to }) => to.includes(first.email))).toHaveLength(1);
    });
  }
});
