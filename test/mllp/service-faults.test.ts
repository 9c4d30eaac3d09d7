import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { type Loopback, startLoopback } from '../client/loopback.ts';
import { type Bridge, type BridgeSettings, startBridgeAs } from './bridge.ts';
import { connectTo, messageOf, msaOf } from './sender.ts';

/** What a service does that the real one does not do when it is told to. */
let service: Loopback;
let bridge: Bridge;
/** Answers to executes, one after the other; the last one stays. */
let executes: (Reply | 'cut' | 'hang')[] = [];
let tokens: (Reply | 'hang')[] = [];
let keys: (string | undefined)[] = [];
interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

const hl7 = { 'content-type': 'x-application/hl7-v2+er7; charset=utf-8' };
const ok: Reply = { status: 200, headers: hl7, body: 'MSH|^~\\&|A\rMSA|AA|own' };
const token: Reply = { status: 200, body: JSON.stringify({ access_token: 't', expires_in: 3600 }) };

function refusal(status: number, id: string, text: string, headers: Record<string, string> = {}): Reply {
  const issue = [{ severity: 'error', code: id, details: { text } }];
  return { status, headers, body: JSON.stringify({ resourceType: 'OperationOutcome', id, issue }) };
}

/** Time for the sender that is short only where a test waits until it is over. */
const start = (settings: Partial<BridgeSettings> = {}) =>
  startBridgeAs(
    {
      ...{ service: service.baseUrl, clientId: 'c', timeoutSeconds: 20 },
      listeners: [{ bot: 'b' }, { bot: 'b', acknowledge: 'original' }],
      ...settings,
    },
    'secret-Quokka',
  );

/** For the tests of a group, or for one: in the place of what they have in common. */
async function withSettings(settings: Partial<BridgeSettings>): Promise<() => Promise<void>> {
  const common = bridge;
  bridge = await start(settings);
  return async () => {
    await bridge.stop();
    bridge = common;
  };
}

/** Ends what a test alone has set. */
let own: (() => Promise<void>) | undefined;
afterEach(async () => {
  await own?.();
  own = undefined;
});

const withTwoSeconds = () => {
  let over: () => Promise<void>;
  beforeAll(async () => {
    over = await withSettings({ timeoutSeconds: 2 });
  });
  afterAll(() => over());
};

beforeAll(async () => {
  service = await startLoopback();
  bridge = await start();
});
afterAll(async () => {
  await bridge.stop();
  await service.stop();
});

beforeEach(() => {
  executes = [ok];
  tokens = [token];
  keys = [];
  bridge.log.length = 0;
  service.answer(async ({ url, headers }) => {
    const list = url?.endsWith('/oauth2/token') ? tokens : executes;
    if (list === executes) keys.push(headers['idempotency-key'] as string | undefined);
    const reply = list.length > 1 ? list.shift() : list[0];
    if (reply === 'hang') await pause(60_000, undefined, { ref: false });
    return reply === 'cut' || reply === 'hang' || !reply ? 'cut' : reply;
  });
});

async function ask(
  fields: Record<number, string> = {},
  port = 0,
): Promise<{ msa: string[]; ms: number; line: object }> {
  const controlId = randomUUID();
  const sender = await connectTo(bridge.ports[port] ?? 0);
  const beganAt = performance.now();
  const msa = msaOf(await sender.ask(messageOf(controlId, fields)));
  const ms = performance.now() - beganAt;
  sender.close();
  return {
    msa: msa.filter((field) => field !== controlId),
    ms,
    line: await bridge.line('message', { controlId }),
  };
}

describe('the service', () => {
  test.each<[string, Reply | 'cut']>([
    ['is throttled', refusal(429, 'throttled', 'slow down', { 'retry-after': '1' })],
    ['is throttled by its gateway', { status: 429, body: '{"message":"Too Many Requests"}' }],
    ['is away', refusal(503, 'transient', 'Try again shortly', { 'retry-after': '1' })],
    ['fails', refusal(500, 'exception', 'Internal server error')],
    ['is cut off by its gateway', { status: 504, body: '<html>' }],
    ['still runs it for an earlier request', refusal(409, 'conflict', 'still', { 'retry-after': '25' })],
    ['does not know the token any more', refusal(401, 'login', 'Unauthorized')],
    ['cuts the connection', 'cut'],
  ])('that %s once is asked again with the same key', async (_name, reply) => {
    executes = [reply, ok];
    const { msa, line } = await ask();
    expect([msa, line]).toEqual([['AA', 'own'], expect.objectContaining({ outcome: 'done', attempts: 2 })]);
    expect([keys.length, new Set(keys).size, keys[0]]).toEqual([
      2,
      1,
      expect.stringMatching(/^hl7-[0-9a-f]{64}$/),
    ]);
  });

  test.each<[string, Reply, string]>([
    ['is forbidden', refusal(403, 'forbidden', 'Forbidden'), 'Forbidden'],
    ['has no such Bot', refusal(404, 'not-found', 'Not found'), 'Not found'],
    [
      'asks to wait longer than the sender does',
      refusal(429, 'throttled', 'later', { 'retry-after': '60' }),
      'later',
    ],
  ])('that %s makes AE at once, and no alarm: nothing ran', async (_name, reply, text) => {
    executes = [reply];
    let asked = await ask();
    // A busy machine may slow one answer; it does not slow each of them.
    for (let turn = 0; turn < 3 && asked.ms >= 1500; turn++) asked = await ask();
    const { msa, ms, line } = asked;
    expect(ms).toBeLessThan(1500);
    expect([msa, line]).toEqual([['AE', text], expect.objectContaining({ outcome: 'not-run', attempts: 1 })]);
    expect(bridge.log.filter(({ level }) => level === 'alarm')).toEqual([]);
  });

  test.each([413, 415])('that answers %i makes AR', async (status) => {
    executes = [refusal(status, 'too-long', 'never')];
    expect((await ask()).msa).toEqual(['AR', 'never']);
  });

  test('that does not know what became of it makes AE and an alarm with the control id', async () => {
    executes = [refusal(409, 'outcome-unknown', 'it may have run')];
    const { msa, line } = await ask();
    expect(msa).toEqual(['AE', 'it may have run']);
    const { controlId } = line as { controlId: string };
    expect(await bridge.line('outcome-unknown', { controlId })).toMatchObject({ level: 'alarm' });
    const metrics = await (await fetch(`http://127.0.0.1:${bridge.healthPort}/metrics`)).text();
    expect(metrics).toMatch(/^portico_mllp_unknown_outcomes_total\{listener="127\.0\.0\.1:\d+"\} 1$/m);
  });

  describe('until the time of the sender is over', () => {
    withTwoSeconds();

    test.each<[string, (Reply | 'cut' | 'hang')[]]>([
      ['that does not answer', ['hang']],
      ['that cuts every connection', ['cut']],
      ['that fails every time', [refusal(500, 'exception', 'Internal server error')]],
      [
        'that lost one and then is away',
        ['cut', refusal(503, 'transient', 'Try again', { 'retry-after': '1' })],
      ],
      ['that lost one and then refuses', ['cut', refusal(404, 'not-found', 'Not found')]],
    ])('%s makes AE and an alarm: it may have run', async (_name, replies) => {
      executes = replies;
      const { msa, ms, line } = await ask();
      expect([msa[0], line]).toEqual(['AE', expect.objectContaining({ outcome: 'unknown' })]);
      expect(ms).toBeLessThan(15_000);
      await bridge.line('outcome-unknown');
    });

    test.each<[string, (Reply | 'cut' | 'hang')[]]>([
      ['that is away all the time', [refusal(503, 'transient', 'Try again', { 'retry-after': '1' })]],
      ['that takes no token', [refusal(401, 'login', 'Unauthorized')]],
    ])('%s makes AE without alarm when the time is over', async (_name, replies) => {
      executes = replies;
      const { msa, line } = await ask();
      expect([msa[0], line]).toEqual(['AE', expect.objectContaining({ outcome: 'not-run' })]);
      expect(bridge.log.filter(({ level }) => level === 'alarm')).toEqual([]);
    });
  });

  test('that gives no token makes AE, and the secret is nowhere', async () => {
    tokens = [{ status: 400, body: JSON.stringify({ error: 'invalid_client' }) }];
    executes = [refusal(401, 'login', 'Unauthorized')];
    own = await withSettings({ timeoutSeconds: 2 });
    const { msa } = await ask();
    expect(msa).toEqual(['AE', 'No access token: invalid_client']);
    expect(keys).toEqual([]);
    const { level } = await bridge.line('no-token');
    expect([level, JSON.stringify(bridge.log)]).toEqual(['error', expect.not.stringContaining('Quokka')]);
  });

  test('whose token endpoint hangs makes AE without alarm: nothing was sent', async () => {
    tokens = ['hang'];
    own = await withSettings({ timeoutSeconds: 1 });
    const { msa, line } = await ask();
    expect([msa[0], line]).toEqual(['AE', expect.objectContaining({ outcome: 'not-run', attempts: 1 })]);
    expect(bridge.log.filter(({ level }) => level === 'alarm')).toEqual([]);
  });

  test('that is busy with other messages until the time is over makes AE without alarm', async () => {
    executes = ['hang', ok];
    own = await withSettings({ timeoutSeconds: 2, concurrency: 1 });
    // Together, so that their times end together: whichever comes first has the one request.
    let both = await Promise.all([ask(), ask()]);
    // A busy machine may bring one so late that it is asked for after the other; it does not each time.
    for (let turn = 0; turn < 4 && both.some(({ msa }) => msa[0] === 'AA'); turn++) {
      executes = ['hang', ok];
      both = await Promise.all([ask(), ask()]);
    }
    expect(both.map(({ msa }) => msa[0])).toEqual(['AE', 'AE']);
    expect(both.map(({ line }) => (line as { outcome?: string }).outcome).sort()).toEqual([
      'not-run',
      'unknown',
    ]);
    const idOf = (line: object) => String((line as { controlId?: unknown }).controlId);
    const ids = both.map(({ line }) => idOf(line));
    const lost = both.find(({ line }) => (line as { outcome?: string }).outcome === 'unknown');
    await bridge.line('outcome-unknown', { controlId: idOf(lost?.line ?? {}) });
    expect(bridge.log.filter((line) => line.level === 'alarm' && ids.includes(idOf(line)))).toHaveLength(1);
  });

  test('is asked no more for a sender that is gone, and that is no alarm', async () => {
    executes = ['cut', refusal(503, 'transient', 'Try again', { 'retry-after': '3' })];
    own = await withSettings({ timeoutSeconds: 60 });
    const sender = await connectTo(bridge.ports[0] ?? 0);
    sender.send(messageOf('gone'));
    while (keys.length < 2) await pause(20);
    sender.socket.resetAndDestroy();
    const { durationMs } = await bridge.line('message', { controlId: 'gone', outcome: 'unknown' });
    expect(Number(durationMs)).toBeLessThan(20_000);
    expect(bridge.log.filter(({ level }) => level === 'alarm')).toEqual([]);
  });

  test('that is not there makes AE without alarm: nothing was sent', async () => {
    own = await withSettings({ service: `http://127.0.0.1:${await freePort()}`, timeoutSeconds: 1 });
    const { msa } = await ask();
    expect(msa).toEqual(['AE', expect.stringContaining('ECONNREFUSED')]);
    expect(bridge.log.filter(({ level }) => level === 'alarm')).toEqual([]);
    expect(await (await fetch(`http://127.0.0.1:${bridge.healthPort}/healthz`)).json()).toEqual({
      status: 'ok',
      signedIn: false,
    });
  });

  test('is asked by as many requests at once as it is told', async () => {
    own = await withSettings({ concurrency: 3 });
    let running = 0;
    let most = 0;
    // The first three are answered when they are all there.
    const { promise: together, resolve: allThere } = Promise.withResolvers<void>();
    service.answer(async ({ url }) => {
      if (url?.endsWith('/oauth2/token')) return token;
      running += 1;
      most = Math.max(most, running);
      if (most === 3) allThere();
      await together;
      await pause(30);
      running -= 1;
      return ok;
    });
    const all = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect([new Set(all.map(({ msa }) => msa[0])), most]).toEqual([new Set(['AA']), 3]);
  });
});

describe('a sender that asks for an accept acknowledgement', () => {
  withTwoSeconds();

  const enhanced = (accept: string, application: string) => ({ 15: accept, 16: application });

  test.each<[string, Reply | 'cut', string]>([
    ['cannot be reached', refusal(503, 'transient', 'Try again', { 'retry-after': '9' }), 'CE'],
    ['refuses it for now', refusal(404, 'not-found', 'Not found'), 'CE'],
    ['refuses it for good', refusal(413, 'too-long', 'too long'), 'CR'],
    ['may have taken it', 'cut', 'CE'],
  ])('is told when the service %s', async (_name, reply, code) => {
    executes = [reply];
    expect((await ask(enhanced('AL', 'NE'))).msa[0]).toBe(code);
    expect((await ask(enhanced('ER', 'NE'))).msa[0]).toBe(code);
    // It asks for nothing but the application's word.
    expect((await ask(enhanced('NE', 'AL'))).msa[0]).toBe(code.replace('C', 'A'));
  });

  test('is answered as in original mode where the listener says so', async () => {
    expect((await ask(enhanced('AL', 'NE'), 1)).msa).toEqual(['AA', 'own']);
  });

  test('that wanted no word of an error is an alarm when there is one', async () => {
    executes = [refusal(400, 'exception', 'no')];
    const sender = await connectTo(bridge.ports[0] ?? 0);
    sender.send(messageOf('silent', enhanced('NE', 'NE')));
    expect(await bridge.line('failed-unacknowledged', { controlId: 'silent' })).toMatchObject({
      level: 'alarm',
    });
    executes = [ok];
    expect(msaOf(await sender.ask(messageOf('loud')))).toEqual(['AA', 'own']);
    sender.close();
  });
});
