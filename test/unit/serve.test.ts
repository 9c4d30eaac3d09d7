import { generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { siteFile } from '../../functions/site/read-site.ts';
import { lambdaContext } from '../../infra/local/context.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { done, jsonResponse } from '../../shared/carry/http/response.ts';
import { sourceSeal } from '../../shared/carry/keys/origin-secret.ts';
import { emptyMemory, type Services } from '../../shared/carry/services.ts';
import type { Shares } from '../../shared/carry/shares.ts';
import { requestCpuMs } from '../../shared/carry/table/budget.ts';
import { Found, type Table } from '../../shared/carry/table/table.ts';
import { type Caller, mintRunToken } from '../../shared/identity/gate/access-token.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { ringOf } from '../setup/key-rings.ts';

const sourceIp = '2001:db8::7';
const context = lambdaContext('things', 1000);
const runTokenKeys = ringOf(new Uint8Array(32));
const run = { id: 'r', root: 'r', depth: 1, deadlineAtMs: 60_000 };
const token = await mintRunToken(runTokenKeys, { project: 'p', botId: 'b', membershipId: 'm' }, run);
const rows = {
  list: { method: 'GET', path: '/things', access: 'public', signIn: 'any' },
  read: { method: 'GET', path: '/fhir/R4/things/{thingId}', access: 'member', signIn: 'any' },
  change: {
    method: 'POST',
    path: '/fhir/R4/projects/{projectId}/things',
    access: 'administrator',
    signIn: 'any',
  },
} as const;

function stage() {
  const lines: { message: string; [field: string]: unknown }[] = [];
  const put: unknown[] = [];
  const table = { read: async () => new Found(new Map()), put: async (item: unknown) => put.push(item) };
  const services: Services = {
    // Of the table only these two are reached.
    table: table as unknown as Table,
    publicKeys: { find: async () => undefined, list: async () => [] },
    memory: emptyMemory(),
    log: {
      info: (message, fields) => lines.push({ message, ...fields }),
      error: (message, fields) => lines.push({ message, ...fields }),
    },
    accessLog: { write: () => undefined },
    runTokenKeys,
    baseUrl: 'https://portico.example',
    now: () => 1000,
    newId: () => 'id',
  };
  return { services, lines, put };
}

function event(key: string, pathParameters: Record<string, string> = {}): APIGatewayProxyEventV2 {
  const [method = '', rawPath = ''] = key.split(' ');
  return {
    version: '2.0',
    headers: { authorization: `Bearer ${token}` },
    requestContext: { http: { method, sourceIp } },
    routeKey: key,
    pathParameters,
    rawPath,
    rawQueryString: '',
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
}

describe('serve', () => {
  test('refuses what is left of a request that has taken too much of the CPU', async () => {
    const { services } = stage();
    const handler = serve(services, rows, ({ table }) => ({
      list: async () => {
        const taken = { user: requestCpuMs * 1000 + 1, system: 0 };
        const clock = jest.spyOn(process, 'threadCpuUsage').mockReturnValue(taken);
        // The clock is not asked at once.
        await new Promise((resolve) => setTimeout(resolve, 20));
        try {
          table.budget.spend('items', 1);
        } finally {
          clock.mockRestore();
        }
        return jsonResponse(200, 'list');
      },
      read: async () => jsonResponse(200, 'read'),
      change: async () => jsonResponse(200, 'change'),
    }));
    expect(await handler(event('GET /things'), context)).toMatchObject({
      statusCode: 400,
      body: expect.stringContaining('too-costly'),
    });
  });

  test('calls the handler of the event’s route, with what its path names', async () => {
    const { services } = stage();
    const handler = serve(services, rows, () => ({
      list: async () => jsonResponse(200, 'list'),
      read: async ({ params }) => {
        throw new Error(params.thingId);
      },
      change: async () => jsonResponse(200, 'change'),
    }));
    expect(await handler(event('GET /things'), context)).toMatchObject({ statusCode: 200, body: '"list"' });
    await expect(handler(event('GET /nothing'), context)).rejects.toThrow('does not serve GET /nothing');
  });

  test('answers a fault, and logs it, when an operation has admitted nobody', async () => {
    const { services, lines, put } = stage();
    const handler = serve(services, rows, () => ({
      list: async () => jsonResponse(200, 'list'),
      read: async () => jsonResponse(200, { secret: 'of somebody' }),
      change: () => done(Promise.resolve()),
    }));
    for (const key of ['GET /fhir/R4/things/{thingId}', 'POST /fhir/R4/projects/{projectId}/things']) {
      const answer = await handler(event(key, { thingId: 't', projectId: 'p' }), context);
      expect(answer.statusCode).toBe(500);
      expect(answer.body).not.toContain('secret');
    }
    expect(lines.map(({ message, error }) => [message, error])).toEqual([
      ['fault', 'AnsweredUnasked'],
      ['fault', 'AnsweredUnasked'],
    ]);
    expect(put).toEqual([]);
  });

  test('takes of the function what the caller’s Project, or of a public route the source, has, until the answer', async () => {
    const { services, lines } = stage();
    const came: unknown[] = [];
    let isFull = false;
    services.shares = {
      enter(owner: unknown) {
        if (isFull) throw new Refusal('throttled', 'Too many', { retryAfterSeconds: 1 });
        came.push(owner);
        return async () => void came.push('left');
      },
    } as unknown as Shares;
    const called: string[] = [];
    const handler = serve(services, rows, () => ({
      list: async () => jsonResponse(200, called.push('list')),
      read: async () => {
        throw new Error('a fault');
      },
      change: () => done(Promise.resolve()),
    }));
    await handler(event('GET /things'), context);
    await handler(event('GET /fhir/R4/things/{thingId}', { thingId: 't' }), context);
    const owners = [{ source: '2001:db8:0:0::/64' }, { project: 'p' }];
    expect(came).toEqual([owners[0], 'left', owners[1], 'left']);
    isFull = true;
    const refused = await handler(event('GET /things'), context);
    expect(refused).toMatchObject({ statusCode: 429, headers: { 'retry-after': '1' } });
    expect(called).toEqual(['list']);
    expect(came).toHaveLength(4);
    // A token that is not good is nobody's: no Project has less for it.
    isFull = false;
    const forged = event('GET /fhir/R4/things/{thingId}', { thingId: 't' });
    forged.headers.authorization = `Bearer ${token}x`;
    expect((await handler(forged, context)).statusCode).toBe(401);
    expect(came).toHaveLength(4);
    expect(lines.map(({ message }) => message)).toEqual(['fault', 'refused', 'refused']);
  });

  test('leaves the source address in the access log only encrypted, for the key that the stage was given', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const seal = sourceSeal(publicKey.export({ format: 'der', type: 'spki' }).toString('base64'));
    const { services } = stage();
    const written: Record<string, unknown>[] = [];
    services.accessLog = { write: (line) => written.push(line) };
    const handlers = () => ({
      list: async () => jsonResponse(200, 'list'),
      read: async () => jsonResponse(200, 'read'),
      change: () => done(Promise.resolve()),
    });
    await serve(services, rows, handlers)(event('GET /things'), context);
    services.sealSource = seal;
    await serve(services, rows, handlers)(event('GET /things'), context);
    const [without, line] = written;
    expect(without).not.toHaveProperty('source');
    expect(JSON.stringify(written)).not.toContain(sourceIp);
    const opened = privateDecrypt(
      { key: privateKey, oaepHash: 'sha256' },
      Buffer.from(String(line?.source), 'base64'),
    );
    expect(opened.toString()).toBe('2001:db8:0:0::/64');
    const { publicKey: curve } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() => sourceSeal(curve.export({ format: 'der', type: 'spki' }).toString('base64'))).toThrow(
      'no RSA key',
    );
  });

  test('gives a handler for each row, and lets no member’s request reach an operation for administrators', () => {
    const { services } = stage();
    const administer = async (caller: Caller<'administrator'>) => jsonResponse(200, caller.project);
    const list = async () => jsonResponse(200, 'list');
    const read = async () => jsonResponse(200, 'read');
    const change = ({ caller }: { caller: Caller<'administrator'> }) => administer(caller);
    expect(serve(services, rows, () => ({ list, read, change }))).toBeInstanceOf(Function);

    // Never run: the compiler is the test, and each of these must be an error to it.
    const wrong = () => {
      // @ts-expect-error the handler of `change` is missing
      serve(services, rows, () => ({ list, read }));
      // @ts-expect-error there is no row `another`
      serve(services, rows, () => ({ list, read, change, another: list }));
      // @ts-expect-error a member's caller is not an administrator's
      serve(services, rows, () => ({ list, read: ({ caller }) => administer(caller), change }));
      // @ts-expect-error a public route has no caller
      serve(services, rows, () => ({ list: ({ caller }) => administer(caller), read, change }));
      serve(services, rows, () => ({
        list,
        // @ts-expect-error the path of `read` does not name it
        read: async ({ params }) => jsonResponse(200, params.id),
        change,
      }));
    };
    expect(wrong).toBeInstanceOf(Function);
  });
});

test('a file of the app is of a known kind', () => {
  expect(siteFile('a.css', Buffer.from('')).contentType).toBe('text/css; charset=utf-8');
  expect(() => siteFile('a.map', Buffer.from(''))).toThrow('No content type for a.map');
});
