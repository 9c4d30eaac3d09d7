import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { type Gate, newGate } from '../spec/gate.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat, createClient, type TestClient } from '../spec/running.ts';
import { runProgram, startBridge, startBridgeAs } from './bridge.ts';
import { connectTo, messageOf, msaOf } from './sender.ts';

let portico: Portico;
let folder: string;
let client: TestClient;
/** The Bot `slow` waits at it. */
let gate: Gate;
let slow: string;
let closed: number;

beforeAll(async () => {
  portico = await startPortico();
  folder = await mkdtemp(join(tmpdir(), 'portico-mllp-program-'));
  client = await createClient(portico);
  closed = await freePort();
  gate = newGate(portico);
  slow = await botThat(portico, `${gate.pass} return event.input.buildAck()`);
});
afterAll(async () => {
  await portico?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function fileOf(name: string, content: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const listener = { listen: '2575', bot: 'b' };
const good = () => ({ service: portico.baseUrl, clientId: client.id, listeners: [listener] });
const env = () => ({ PORTICO_CLIENT_SECRET: client.secret });

describe('--check', () => {
  test('says that all is well', async () => {
    const { code, stdout } = await runProgram(['--config', await fileOf('good.json', good()), '--check'], {
      env: env(),
    });
    expect([code, stdout]).toEqual([0, `ok      access token for ${client.id} from ${portico.baseUrl}/\n`]);
  });

  test('takes options in place of a file, and the secret from a file', async () => {
    const secret = await fileOf('secret', `${client.secret}\n`);
    await chmod(secret, 0o644);
    const args = [
      '--listen',
      '2575',
      '--service',
      portico.baseUrl,
      '--client-id',
      client.id,
      '--bot',
      'https://a|b',
    ];
    const { code, stdout } = await runProgram([...args, '--client-secret-file', secret, '--check']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^warning .*secret can be read by everybody.*\nok/),
    ]);
  });

  test.each<[string, () => object, string]>([
    ['a wrong secret', () => ({ ...good(), clientId: 'nobody' }), 'invalid_client'],
    [
      'a service that is not there',
      () => ({ ...good(), service: `http://127.0.0.1:${closed}` }),
      'ECONNREFUSED',
    ],
    [
      'a certificate that is not there',
      () => ({ ...good(), listeners: [{ ...listener, tls: { cert: 'none.pem', key: 'none.key' } }] }),
      'ENOENT',
    ],
  ])('tells of %s', async (_name, settings, reason) => {
    const args = ['--config', await fileOf('bad.json', settings()), '--check'];
    const { code, stdout } = await runProgram(args, { env: env() });
    expect([code, stdout]).toEqual([1, expect.stringMatching(new RegExp(`failed {2}.*${reason}`))]);
  });

  test('tells of a missing secret', async () => {
    const { code, stdout } = await runProgram(['--config', await fileOf('good.json', good()), '--check']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('No client secret: set PORTICO_CLIENT_SECRET'),
    ]);
  });
});

test('wrong settings end it with 2, naming the place and no value', async () => {
  const wrong = await fileOf('wrong.json', { ...good(), clientSecret: 'Quokka' });
  expect(await runProgram(['--config', wrong])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'clientSecret is not a setting\n',
  });
  expect(await runProgram(['--client-secret', 'Quokka'])).toEqual({
    code: 2,
    stdout: '',
    stderr: '--client-secret is no option: use PORTICO_CLIENT_SECRET or --client-secret-file\n',
  });
});

test('a port that is taken ends it with 1 and nothing left open', async () => {
  const bridge = await startBridge(portico, { listeners: [{ bot: slow }] });
  const settings = { ...good(), listeners: [{ ...listener, listen: String(bridge.ports[0]) }] };
  const { code, stderr } = await runProgram(['--config', await fileOf('taken.json', settings)], {
    env: env(),
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
  await bridge.stop();
});

test('--help and --version', async () => {
  expect(await runProgram(['--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--listen'),
  });
  expect(await runProgram(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
});

describe('SIGTERM', () => {
  test('lets what has come whole be answered, takes nothing more, and ends with 0', async () => {
    const bridge = await startBridge(portico, { listeners: [{ bot: slow }] });
    const port = bridge.ports[0] ?? 0;
    const [busy, idle, partial] = [await connectTo(port), await connectTo(port), await connectTo(port)];
    partial.write('\vMSH|');
    busy.send(messageOf('last'));
    busy.send(messageOf('too late'));
    const health = `http://127.0.0.1:${bridge.healthPort}`;
    for (;;) if (/^portico_mllp_in_progress 1$/m.test(await (await fetch(`${health}/metrics`)).text())) break;
    const ended = bridge.stop('SIGTERM');
    await bridge.line('stopping');
    expect((await fetch(`${health}/healthz`)).status).toBe(503);
    await expect(connectTo(port)).rejects.toThrow('ECONNREFUSED');
    await gate.open();
    expect(msaOf(await busy.next())).toEqual(['AA', 'last', 'OK']);
    for (const sender of [busy, idle, partial])
      await expect(sender.next()).rejects.toThrow('The connection ended');
    expect(await ended).toBe(0);
    expect(bridge.log.at(-1)?.event).toBe('stopped');
  });

  test('a second signal does not wait', async () => {
    const never = newGate(portico);
    const bot = await botThat(portico, `${never.pass} return event.input.buildAck()`);
    const bridge = await startBridge(portico, { listeners: [{ bot }] });
    const sender = await connectTo(bridge.ports[0] ?? 0);
    sender.send(messageOf('unheard'));
    await never.reached();
    void bridge.stop('SIGINT');
    await bridge.line('stopping');
    process.kill(bridge.pid, 'SIGINT');
    if (!sender.socket.closed) await once(sender.socket, 'close');
    expect(await bridge.stop()).not.toBe(0);
    await never.open();
  });
});

test('the log and the metrics hold control ids, sizes and times, and nothing of a message', async () => {
  const bot = await botThat(portico, 'throw new Error("Quokka " + event.input.get("PID.5"))');
  const { secret, id } = await createClient(portico);
  const bridge = await startBridgeAs(
    { service: portico.baseUrl, clientId: id, listeners: [{ bot }] },
    secret,
  );
  const sender = await connectTo(bridge.ports[0] ?? 0);
  const message = messageOf('id-1\u001b[31m', { 3: 'Sender' }, ['PID|1||4711||Quokka^Berta']);
  expect(msaOf(await sender.ask(message))[2]).toContain('Quokka');
  sender.write(`\v${message}`);
  sender.close();
  await bridge.line('disconnected');
  const { ms: _, ...line } = await bridge.line('message');
  expect(line).toMatchObject({
    controlId: 'id-1\u001b[31m',
    bytes: message.length + 1,
    status: 400,
    outcome: 'failed',
    ack: 'AE',
  });
  const metrics = await (await fetch(`http://127.0.0.1:${bridge.healthPort}/metrics`)).text();
  const all = JSON.stringify(bridge.log) + metrics;
  for (const word of ['Quokka', 'Berta', '4711', 'Sender', secret, '\u001b']) expect(all).not.toContain(word);
  expect(metrics).toMatch(/^portico_mllp_acknowledgements_total\{listener="[^"]+",code="AE"\} 1$/m);
  expect(
    metrics.split('\n').filter((row) => !/^(# (HELP|TYPE) .+|portico_mllp_\w+(\{.*\})? [\d.]+)?$/.test(row)),
  ).toEqual([]);
  const nowhere = [['/other'], ['/healthz', 'POST'], ['/metrics', 'PUT']];
  for (const [path, method = 'GET'] of nowhere) {
    const { status } = await fetch(`http://127.0.0.1:${bridge.healthPort}${path}`, { method });
    expect([path, method, status]).toEqual([path, method, 404]);
  }
  await bridge.stop();
});

test('a secret that is put right in its file is used without a restart', async () => {
  const { id, secret } = await createClient(portico);
  const file = await fileOf('rotating', 'wrong');
  const bot = await botThat(portico, 'return event.input.buildAck()');
  const settings = { service: portico.baseUrl, clientId: id, clientSecretFile: file, listeners: [{ bot }] };
  const bridge = await startBridgeAs(settings, '');
  const sender = await connectTo(bridge.ports[0] ?? 0);
  expect(msaOf(await sender.ask(messageOf('before')))).toEqual([
    'AE',
    'before',
    'No access token: invalid_client',
  ]);
  await writeFile(file, secret);
  expect(msaOf(await sender.ask(messageOf('after')))).toEqual(['AA', 'after', 'OK']);
  sender.close();
  await bridge.stop();
});
