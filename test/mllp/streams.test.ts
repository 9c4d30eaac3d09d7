import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeFrame } from '../../mllp/src/frames.ts';
import { longTest } from '../setup/long.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { type Bridge, startBridge } from './bridge.ts';
import { allRuns } from './runs.ts';
import { connectTo, messageOf, msaOf, type Sender } from './sender.ts';

const mebibyte = 1024 * 1024;
let portico: Portico;
let bridge: Bridge;
const ports = { acks: 0, counts: 0, slow: 0, few: 0, peers: 0, impatient: 0, elsewhere: 0 };

beforeAll(async () => {
  portico = await startPortico();
  const [acks, counts, slow] = await Promise.all([
    botThat(portico, 'return event.input.buildAck({ text: String(event.input.toString().length) })'),
    botThat(
      portico,
      `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } });
       return event.input.buildAck()`,
    ),
    botThat(portico, 'await new Promise((r) => setTimeout(r, 200)); return undefined'),
  ]);
  const listeners: Record<keyof typeof ports, object> = {
    acks: { bot: acks },
    counts: { bot: counts },
    slow: { bot: slow },
    few: { bot: acks, mostConnections: 2 },
    peers: { bot: acks, mostConnections: 4 },
    impatient: { bot: acks, idleSeconds: 2 },
    elsewhere: { bot: acks, allow: ['10.0.0.0/8', '2001:db8::/32'] },
  };
  bridge = await startBridge(portico, { listeners: Object.values(listeners) });
  for (const [at, name] of (Object.keys(ports) as (keyof typeof ports)[]).entries()) {
    ports[name] = bridge.ports[at] ?? 0;
  }
  silent = { sender: await connectTo(ports.acks), sinceMs: performance.now() };
  silent.sender.write('\vMSH|');
});
afterAll(async () => {
  await bridge?.stop();
  await portico?.stop();
});

/** A sender that fell silent inside its frame when the file began: its time goes by beside the tests. */
let silent: { sender: Sender; sinceMs: number };

/** Resident memory of the program, in MiB. */
function memoryMb(): number {
  const status = readFileSync(`/proc/${bridge.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** A message of this many bytes, the CR at its end included. */
function messageOfLength(bytes: number): string {
  const head = `${messageOf(randomUUID())}\rOBX|1|ED|PDF||`;
  return `${head}${'A'.repeat(bytes - head.length - 1)}\r`;
}

describe('a connection', () => {
  test('has many messages in one segment answered in order', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => `one-${at}`);
    const sender = await connectTo(ports.acks);
    sender.write(Buffer.concat(ids.map((id) => encodeFrame(Buffer.from(messageOf(id))))));
    for (const id of ids) expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['AA', id]);
    sender.close();
  });

  test('has their runs in order, one at a time', async () => {
    const before = (await allRuns(portico)).length;
    const ids = Array.from({ length: 20 }, () => randomUUID());
    const sender = await connectTo(ports.counts);
    sender.write(Buffer.concat(ids.map((id) => encodeFrame(Buffer.from(messageOf(id))))));
    for (const [at, id] of ids.entries()) {
      expect(msaOf(await sender.next())[1]).toBe(id);
      // The next one may run already, the one after it not before this line was read.
      expect((await allRuns(portico)).length - before).toBeGreaterThan(at);
    }
    expect((await allRuns(portico)).length - before).toBe(ids.length);
    sender.close();
  });

  test('has a message that comes byte by byte answered', async () => {
    const sender = await connectTo(ports.acks);
    sender.socket.setNoDelay(true);
    for (const byte of encodeFrame(Buffer.from(messageOf('bytes')))) {
      sender.write(Buffer.of(byte));
      await pause(1);
    }
    expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['AA', 'bytes']);
    sender.close();
  });

  test('takes 4 MiB; one byte more is AR, and the next message is answered', async () => {
    const sender = await connectTo(ports.acks);
    const largest = await sender.ask(messageOfLength(4 * mebibyte));
    expect(msaOf(largest)).toEqual(['AA', expect.any(String), String(4 * mebibyte - 1)]);
    const tooLong = await sender.ask(messageOfLength(4 * mebibyte + 1));
    expect(msaOf(tooLong)).toEqual([
      'AR',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringContaining('4194304'),
    ]);
    expect(msaOf(await sender.ask(messageOf('next')))[0]).toBe('AA');
    sender.close();
  });

  test('has a frame of 5 MB answered AR before its end comes, and is closed when that never does', async () => {
    const sender = await connectTo(ports.acks);
    const id = randomUUID();
    sender.write(`\v${messageOf(id)}\rOBX|1|ED|PDF||${'A'.repeat(5_000_000)}`);
    expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['AR', id]);
    expect(await bridge.line('message', { controlId: id })).toMatchObject({ level: 'warn', ack: 'AR' });
    sender.write('A'.repeat(16_000_000));
    await expect(sender.next()).rejects.toThrow('The connection ended: ""');
    const reason = 'a frame without an end';
    expect(await bridge.line('disconnected', { reason })).toMatchObject({ level: 'warn', peer: '127.0.0.1' });
  });

  test('whose sender has ended its side still gets its acknowledgements, then ends', async () => {
    const sender = await connectTo(ports.slow);
    sender.send(messageOf('half-1'));
    sender.send(messageOf('half-2'));
    sender.socket.end();
    expect([msaOf(await sender.next())[1], msaOf(await sender.next())[1]]).toEqual(['half-1', 'half-2']);
    await expect(sender.next()).rejects.toThrow('The connection ended');
  });

  test('that is cut off inside a frame runs nothing', async () => {
    const id = randomUUID();
    const sender = await connectTo(ports.counts);
    sender.write(encodeFrame(Buffer.from(messageOf(id))).subarray(0, -1));
    sender.socket.end();
    await bridge.line('disconnected', { reason: 'cut off inside a frame' });
    expect(await allRuns(portico)).not.toContain(id);
  });

  test.each([
    ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'bytes outside a frame'],
    ['\v\vMSH|', 'a frame inside a frame'],
    ['\vMSH|^~\\&|A\u001cMSH|', 'the end of a block without carriage return'],
  ])('that brings %j is closed with a line in the log, and answered nothing', async (bytes, reason) => {
    const sender = await connectTo(ports.acks);
    sender.write(bytes);
    await expect(sender.next()).rejects.toThrow('The connection ended: ""');
    expect(await bridge.line('disconnected', { reason })).toMatchObject({ level: 'warn', peer: '127.0.0.1' });
  });

  test('that brings nothing is closed after its time, also when it brought messages before', async () => {
    const sender = await connectTo(ports.impatient);
    expect(msaOf(await sender.ask(messageOf('last')))[0]).toBe('AA');
    if (!sender.socket.closed) await once(sender.socket, 'close');
    const { connection } = await bridge.line('disconnected', { reason: 'silence' });
    expect(bridge.log.filter((line) => line.connection === connection).map(({ event }) => event)).toEqual([
      'connected',
      'message',
      'disconnected',
    ]);
  });

  test('from an address that is not allowed is cut off unread', async () => {
    const sender = await connectTo(ports.elsewhere);
    sender.send(messageOf(randomUUID()));
    await expect(sender.next()).rejects.toThrow('The connection ended: ""');
    expect(await bridge.line('refused', { reason: 'address' })).toMatchObject({ peer: '127.0.0.1' });
  });

  test('over what its peer may have is refused, though the listener has room', async () => {
    const own = await Promise.all(Array.from({ length: 3 }, () => connectTo(ports.peers)));
    const fourth = await connectTo(ports.peers);
    fourth.send(messageOf('fourth'));
    await expect(fourth.next()).rejects.toThrow('The connection ended');
    await bridge.line('refused', { reason: 'too many of this peer' });
    for (const sender of own) sender.close();
    await pause(200);
    const again = await connectTo(ports.peers);
    expect(msaOf(await again.ask(messageOf('again')))[0]).toBe('AA');
    again.close();
  });

  test('over the number of its listener is refused; those before it are served', async () => {
    const [first, second] = [await connectTo(ports.few), await connectTo(ports.few)];
    const third = await connectTo(ports.few);
    third.send(messageOf('third'));
    await expect(third.next()).rejects.toThrow('The connection ended');
    await bridge.line('refused', { reason: 'too many' });
    for (const sender of [first, second]) {
      expect(msaOf(await sender.ask(messageOf('few')))[0]).toBe('AA');
      sender.close();
    }
  });
});

describe('what is not yet answered', () => {
  test('waits with its sender: 200 MB on one connection take no memory', async () => {
    const sender = await connectTo(ports.slow);
    const before = memoryMb();
    const frame = encodeFrame(Buffer.from(messageOfLength(50_000)));
    for (let times = 0; times < 4000; times++) sender.write(frame);
    for (let times = 0; times < 5; times++) await sender.next();
    expect(memoryMb() - before).toBeLessThan(100);
    // All but what the systems' buffers hold is still with the sender.
    expect(sender.socket.writableLength).toBeGreaterThan(150 * mebibyte);
    sender.close();
  });

  test('is bounded in all: 60 unfinished frames of 4 MB take the memory of 16', async () => {
    const senders = await Promise.all(Array.from({ length: 60 }, () => connectTo(ports.acks)));
    const before = memoryMb();
    const frame = encodeFrame(Buffer.from(messageOfLength(4_000_000)));
    for (const sender of senders) sender.write(frame.subarray(0, -2));
    // The others go on meanwhile.
    const other = await connectTo(ports.acks);
    for (let times = 0; times < 10; times++) {
      expect(msaOf(await other.ask(messageOf(`small-${times}`)))[0]).toBe('AA');
      await pause(100);
    }
    // Two thirds of 240 MB would be here; a buffer that doubles holds up to twice what came.
    expect(memoryMb() - before).toBeLessThan(160);
    for (const sender of senders) sender.close();
    other.close();
  });

  test.each<[string, (sender: Sender) => void]>([
    ['stall', () => undefined],
    ['drip', (sender) => void setInterval(() => sender.write('A'), 100).unref()],
  ])(
    'of thirty senders that %s inside a large frame holds no other one',
    async (_, goOn) => {
      const senders = await Promise.all(Array.from({ length: 30 }, () => connectTo(ports.acks)));
      for (const sender of senders) {
        sender.write(`\v${messageOf(randomUUID())}\rOBX|1|ED|PDF||${'A'.repeat(200_000)}`);
        goOn(sender);
      }
      const other = await connectTo(ports.acks);
      expect(msaOf(await other.ask(messageOf('small')))[0]).toBe('AA');
      const startedMs = performance.now();
      expect(msaOf(await other.ask(messageOfLength(1_000_000)))[0]).toBe('AA');
      // Those who stall are given up after two seconds where others wait, after thirty where nobody does.
      expect(performance.now() - startedMs).toBeLessThan(25_000);
      const reason = 'too slow inside a frame';
      expect(await bridge.line('disconnected', { reason })).toMatchObject({
        level: 'warn',
        peer: '127.0.0.1',
      });
      for (const sender of senders) sender.close();
      other.close();
    },
    120_000,
  );

  test('of all connections is answered in the end, large ones too', async () => {
    const senders = await Promise.all(Array.from({ length: 24 }, () => connectTo(ports.acks)));
    const message = () => messageOfLength(1_000_000);
    const acks = await Promise.all(senders.map((sender) => sender.ask(message())));
    expect(acks.map((ack) => msaOf(ack)[0])).toEqual(senders.map(() => 'AA'));
    for (const sender of senders) sender.close();
  });
});

longTest('a sender that is silent inside a frame for half a minute is cut off', async () => {
  const { sender, sinceMs } = silent;
  if (!sender.socket.closed) await once(sender.socket, 'close');
  const { connection } = await bridge.line('connected');
  const { time } = await bridge.line('disconnected', { connection, reason: 'cut off inside a frame' });
  const { time: began } = await bridge.line('connected');
  expect(Date.parse(String(time)) - Date.parse(String(began))).toBeGreaterThan(29_000);
  expect(performance.now() - sinceMs).toBeGreaterThan(29_000);
});
