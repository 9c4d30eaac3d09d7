import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isLong } from '../setup/long.ts';
import { type Gate, newGate } from '../spec/gate.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { type Bridge, startBridge } from './bridge.ts';
import { allRuns } from './runs.ts';
import { connectTo, messageOf, msaOf, type Sender } from './sender.ts';

let portico: Portico;
let bridge: Bridge;
const ports = { acks: 0, throws: 0, refuses: 0, slow: 0 };
let gate: Gate;
/** In the long form longer than a caller who waits is given. */
const slowMs = isLong ? 12_000 : 0;

beforeAll(async () => {
  portico = await startPortico();
  gate = newGate(portico);
  const record = `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } });`;
  const bots = {
    acks: `${record} return event.input.buildAck({ text: 'Grüße' })`,
    throws: `${record} throw new Error('no such ward')`,
    refuses: `${record} return event.input.buildAck({ ackCode: 'AR', text: 'unknown ward' })`,
    slow: `${gate.pass} await new Promise((r) => setTimeout(r, ${slowMs})); ${record} return event.input.buildAck()`,
  };
  const names = Object.keys(bots) as (keyof typeof bots)[];
  const ids = await Promise.all(names.map((name) => botThat(portico, bots[name])));
  bridge = await startBridge(portico, { listeners: ids.map((bot) => ({ bot })) });
  for (const [at, name] of names.entries()) ports[name] = bridge.ports[at] ?? 0;
});
afterAll(async () => {
  await bridge?.stop();
  await portico?.stop();
});

/** What comes back for a message before the answer to one that asks for an answer always. */
async function repliesTo(
  sender: Sender,
  controlId: string,
  accept: string,
  application: string,
): Promise<string[]> {
  sender.send(messageOf(controlId, { 15: accept, 16: application }));
  const end = randomUUID();
  sender.send(messageOf(end));
  const codes: string[] = [];
  for (;;) {
    const [code = '', id] = msaOf(await sender.next());
    if (id === end) return codes;
    expect(id).toBe(controlId);
    codes.push(code);
  }
}

describe('MSH-15 and MSH-16', () => {
  test.each<[keyof typeof ports, string, string, string[]]>([
    ['acks', 'AL', 'AL', ['CA', 'AA']],
    ['acks', 'AL', 'NE', ['CA']],
    ['acks', 'AL', '', ['CA']],
    ['acks', 'AL', 'ER', ['CA']],
    ['acks', 'SU', 'SU', ['CA', 'AA']],
    ['acks', 'NE', 'AL', ['AA']],
    ['acks', '', 'AL', ['AA']],
    ['acks', 'NE', 'NE', []],
    ['acks', 'ER', 'ER', []],
    ['acks', 'ER', 'SU', ['AA']],
    ['throws', 'AL', 'AL', ['CA', 'AE']],
    ['throws', 'AL', 'ER', ['CA', 'AE']],
    ['throws', 'AL', 'SU', ['CA']],
    ['throws', 'NE', 'ER', ['AE']],
    ['throws', 'ER', 'NE', []],
    ['refuses', 'AL', 'AL', ['CA', 'AR']],
    ['refuses', 'NE', 'SU', []],
  ])('a Bot that %s, to a sender of %j and %j: %j', async (name, accept, application, codes) => {
    const controlId = randomUUID();
    const sender = await connectTo(ports[name]);
    expect(await repliesTo(sender, controlId, accept, application)).toEqual(codes);
    sender.close();
    expect((await allRuns(portico)).filter((id) => id === controlId)).toHaveLength(1);
    // What failed and nobody was told of is said to the operator.
    const isUnheard = name !== 'acks' && !codes.some((code) => /^A[ER]$/.test(code));
    if (isUnheard) await bridge.line('failed-unacknowledged', { controlId });
    const alarms = bridge.log.filter((line) => line.level === 'alarm' && line.controlId === controlId);
    expect(alarms.map(({ event }) => event)).toEqual(isUnheard ? ['failed-unacknowledged'] : []);
  });
});

describe('a message that is accepted', () => {
  test('runs once, however often it is sent, and again when it failed', async () => {
    for (const [name, runs] of [
      ['acks', 1],
      ['throws', 2],
    ] as const) {
      const controlId = randomUUID();
      for (const _ of [1, 2]) {
        const sender = await connectTo(ports[name]);
        const [accept] = await repliesTo(sender, controlId, 'AL', 'AL');
        expect(accept).toBe('CA');
        sender.close();
      }
      expect((await allRuns(portico)).filter((id) => id === controlId)).toHaveLength(runs);
    }
  });

  test('may take long; the next one of the connection keeps its place', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const sender = await connectTo(ports.slow);
    sender.send(messageOf(first, { 15: 'AL', 16: 'AL' }));
    sender.send(messageOf(second, { 15: 'AL', 16: 'NE' }));
    expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['CA', first]);
    expect(await allRuns(portico)).not.toContain(first);
    await gate.open();
    expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['AA', first]);
    expect(msaOf(await sender.next()).slice(0, 2)).toEqual(['CA', second]);
    sender.close();
  });

  test('of which the sender confirms the acknowledgement: that is neither run nor answered', async () => {
    const sender = await connectTo(ports.acks);
    const controlId = randomUUID();
    const ack = await sender.ask(messageOf(controlId));
    sender.send(`MSH|^~\\&|LAB|CLINIC|PORTICO|DEMO|2026||ACK|confirm-1|P|2.5.1\rMSA|CA|${controlId}`);
    await bridge.line('accept-ack', { controlId: 'confirm-1' });
    expect(msaOf(ack)[0]).toBe('AA');
    expect(await repliesTo(sender, randomUUID(), 'NE', 'NE')).toEqual([]);
    expect(await allRuns(portico)).not.toContain('confirm-1');
    sender.close();
  });

  test('is answered in the character set of its sender', async () => {
    const sender = await connectTo(ports.acks);
    sender.send(messageOf('latin', { 15: 'AL', 16: 'AL', 18: '8859/1' }));
    expect(msaOf(await sender.next())[0]).toBe('CA');
    expect(msaOf(await sender.next())).toEqual(['AA', 'latin', 'Gr\xfc\xdfe']);
    sender.close();
  });
});

test('a sender that is gone before its job has ended is a line in the log, and an alarm when the job failed', async () => {
  const [well, failed] = [randomUUID(), randomUUID()];
  for (const [port, id] of [
    [ports.acks, well],
    [ports.throws, failed],
  ] as const) {
    const sender = await connectTo(port);
    sender.send(messageOf(id, { 15: 'AL', 16: 'AL' }));
    expect(msaOf(await sender.next())[0]).toBe('CA');
    sender.socket.resetAndDestroy();
    await bridge.line('job-ended', { controlId: id });
  }
  await bridge.line('failed-unacknowledged', { controlId: failed });
  expect(bridge.log.filter(({ level, controlId }) => level === 'alarm' && controlId === well)).toEqual([]);
});
