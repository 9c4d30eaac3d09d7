import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Hl7Message } from '@medplum/core';
import { Hl7Client, type Hl7MessageEvent, Hl7Server, ReturnAckCategory } from '@medplum/hl7';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { type Bridge, runProgram, startBridge } from './bridge.ts';
import { simpleReceiver, simpleSender } from './foreign.ts';
import { allRuns } from './runs.ts';
import { messageOf, msaOf } from './sender.ts';

let portico: Portico;
let bridge: Bridge;
let port: number;

beforeAll(async () => {
  portico = await startPortico();
  const bot = await botThat(
    portico,
    `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } });
     if (event.input.get('PID.3.1') === '13') throw new Error('no such ward');
     return event.input.buildAck()`,
  );
  bridge = await startBridge(portico, { listeners: [{ bot }] });
  port = bridge.ports[0] ?? 0;
});
afterAll(async () => {
  await bridge?.stop();
  await portico?.stop();
});

/** The sender comes with a @medplum/core of its own, whose class is the same but for its private parts. */
function medplumMessage(text: string): Parameters<Hl7Client['sendAndWait']>[0] {
  return Hl7Message.parse(text) as unknown as Parameters<Hl7Client['sendAndWait']>[0];
}

const bad = ['PID|1||13'];

describe('simple-hl7 as it comes', () => {
  test('sends and is answered, message after message', async () => {
    const sender = simpleSender(port);
    for (const code of ['AA', 'AE', 'AA']) {
      const id = randomUUID();
      expect(await sender.send(messageOf(id, {}, code === 'AE' ? bad : undefined))).toEqual([code, id]);
    }
    sender.close();
  });

  test('receives what --send sends', async () => {
    const receiver = await simpleReceiver(['AA']);
    const input = [messageOf('s-1'), messageOf('s-2')].join('\n').replaceAll('\r', '\n');
    const { code, stdout } = await runProgram(['--send', String(receiver.port)], { input });
    expect([code, [...stdout.matchAll(/^MSA\|.*$/gm)].map(([line]) => line)]).toEqual([
      0,
      ['MSA|AA|s-1', 'MSA|AA|s-2'],
    ]);
    expect(receiver.received.map((text) => text.split('\r').map((segment) => segment.slice(0, 3)))).toEqual([
      ['MSH', 'PID'],
      ['MSH', 'PID'],
    ]);
    receiver.stop();
  });
});

describe('@medplum/hl7 as it comes', () => {
  test('sends many at once on one connection, in both modes, and is answered each', async () => {
    const client = new Hl7Client({ host: '127.0.0.1', port });
    const ask = async (fields: Record<number, string>, more?: string[]) => {
      const message = medplumMessage(messageOf(randomUUID(), fields, more));
      const [first, last] = [ReturnAckCategory.FIRST, ReturnAckCategory.APPLICATION];
      const returnAck = fields[15] === 'AL' && fields[16] !== 'AL' ? first : last;
      return (await client.sendAndWait(message, { returnAck, timeoutMs: 30_000 }))
        .getSegment('MSA')
        ?.getField(1)
        ?.toString();
    };
    const answers = [
      ask({}),
      ask({}, bad),
      ask({ 15: 'AL' }),
      ask({ 15: 'AL', 16: 'AL' }),
      ask({ 15: 'AL', 16: 'AL' }, bad),
      ask({}),
    ];
    expect(await Promise.all(answers)).toEqual(['AA', 'AE', 'CA', 'AA', 'AE', 'AA']);
    await client.close();
  });

  test('receives what --send sends, in enhanced mode too', async () => {
    const received: string[] = [];
    const server = new Hl7Server((connection) => {
      connection.addEventListener('message', ({ message }: Hl7MessageEvent) => {
        received.push(message.toString());
        connection.send(message.buildAck());
      });
    });
    const to = await freePort();
    await server.start(to, 'utf-8', true);
    const { code, stdout } = await runProgram(['--send', `127.0.0.1:${to}`], {
      input: messageOf('m-1', { 15: 'AL', 16: 'AL' }, ['PID|1||7||Grüße']),
    });
    const acks = stdout.split('\nMSH').map((ack) => msaOf(ack.replaceAll('\n', '\r')).slice(0, 2));
    expect([code, acks]).toEqual([
      0,
      [
        ['CA', 'm-1'],
        ['AA', 'm-1'],
      ],
    ]);
    expect(received).toEqual([expect.stringMatching(/\rPID\|1\|\|7\|\|Grüße\r?$/)]);
    await server.stop({ forceDrainTimeoutMs: 100 });
  });
});

test('the program sends to itself: what goes in at one end is run at the other', async () => {
  const id = randomUUID();
  const { code, stdout, stderr } = await runProgram(['--send', `localhost:${port}`], {
    input: messageOf(id),
  });
  expect([code, msaOf(stdout.replaceAll('\n', '\r'))]).toEqual([0, ['AA', id, 'OK']]);
  expect(JSON.parse(stderr)).toMatchObject({
    level: 'info',
    event: 'sent',
    controlId: id,
    attempt: 1,
    ack: 'AA',
  });
  expect((await allRuns(portico)).filter((run) => run === id)).toHaveLength(1);
});
