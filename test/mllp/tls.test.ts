import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { type Bridge, runProgram, startBridge } from './bridge.ts';
import { type Identity, newAuthority } from './certificates.ts';
import { connectTo, messageOf, msaOf, type Sender } from './sender.ts';

let portico: Portico;
let bridge: Bridge;
let folder: string;
let ca: string;
let ours: Identity;
let theirs: Identity;
let stranger: Identity;
const [plain, mutual, loopback] = [0, 1, 2];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-mllp-tls-'));
  const [authority, other] = [await newAuthority(folder, 'hospital'), await newAuthority(folder, 'nobody')];
  ({ ca } = authority);
  [ours, theirs, stranger] = await Promise.all([
    authority.identity('bridge'),
    authority.identity('engine'),
    other.identity('stranger'),
  ]);
  portico = await startPortico();
  const bot = await botThat(portico, 'return event.input.buildAck()');
  bridge = await startBridge(portico, {
    listeners: [
      { bot, tls: ours },
      { bot, tls: { ...ours, ca }, listen: '0.0.0.0:0' },
      { bot, tls: { ...ours, ca }, allow: ['127.0.0.0/8'] },
    ],
  });
});
afterAll(async () => {
  await bridge?.stop();
  await portico?.stop();
  await rm(folder, { recursive: true, force: true });
});

function secure(listener: number, identity?: Identity): Promise<Sender> {
  const port = bridge.ports[listener] ?? 0;
  const own = identity && { cert: readFileSync(identity.cert), key: readFileSync(identity.key) };
  return connectTo(
    port,
    connectTls({ host: '127.0.0.1', port, ca: readFileSync(ca), servername: 'localhost', ...own }),
  );
}

describe('a listener with a certificate', () => {
  test('answers over TLS', async () => {
    const sender = await secure(plain);
    expect(msaOf(await sender.ask(messageOf('tls')))).toEqual(['AA', 'tls', 'OK']);
    sender.close();
  });

  test('answers nobody in the clear', async () => {
    const sender = await connectTo(bridge.ports[plain] ?? 0);
    sender.send(messageOf('clear'));
    await expect(sender.next()).rejects.toThrow('The connection ended');
    await bridge.line('refused', { peer: '127.0.0.1' });
  });

  test('that wants one of its senders takes those of its authority only', async () => {
    const sender = await secure(mutual, theirs);
    expect(msaOf(await sender.ask(messageOf('mutual')))).toEqual(['AA', 'mutual', 'OK']);
    sender.close();
    for (const identity of [undefined, stranger]) {
      const refused = await secure(mutual, identity);
      refused.send(messageOf('refused'));
      await expect(refused.next()).rejects.toThrow('The connection ended: ""');
    }
    expect(bridge.log.filter(({ controlId }) => controlId === 'refused')).toEqual([]);
  });
});

describe('--send', () => {
  const send = (listener: number, ...options: string[]) =>
    runProgram(
      ['--send', `localhost:${bridge.ports[listener]}`, '--attempts', '1', '--timeout', '5', ...options],
      {
        input: messageOf('sent'),
      },
    );

  test('shows its certificate', async () => {
    const args = ['--tls-ca', ca, '--tls-cert', theirs.cert, '--tls-key', theirs.key];
    const { code, stdout } = await send(loopback, ...args);
    expect([code, stdout]).toEqual([0, expect.stringContaining('\nMSA|AA|sent|OK')]);
  });

  test.each<[string, () => string[]]>([
    ['does not trust a receiver that it cannot verify', () => ['--tls']],
    ['does not speak in the clear to one that wants TLS', () => []],
    ['is refused without its certificate', () => ['--tls-ca', ca]],
  ])('%s', async (_name, options) => {
    const { code, stdout } = await send(loopback, ...options());
    expect([code, stdout]).toEqual([1, '']);
  });
});
