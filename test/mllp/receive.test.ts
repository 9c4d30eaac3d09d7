import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeSamples, readSample } from '../setup/sample-messages.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat, createBot } from '../spec/running.ts';
import { type Bridge, startBridge } from './bridge.ts';
import { runsOf } from './runs.ts';
import { connectTo, messageOf, msaOf } from './sender.ts';

let portico: Portico;
let bridge: Bridge;
/** The listeners' Bots by what they do. */
const bots = {
  /** Leaves a Basic for each run, and acknowledges. */
  acks: `const id = event.input.get('MSH.10') ?? '';
    await medplum.createResource({ resourceType: 'Basic', code: { text: id } });
    return event.input.buildAck();`,
  echoes: 'return event.input',
  nothing: 'return undefined',
  text: 'return "thanks"',
  refuses: `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } });
    return event.input.buildAck({ ackCode: 'AE', text: 'no such ward' });`,
  throws: `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } });
    throw new Error('no bed for ' + event.input.get('PID.3.1') + ' Grüße €');`,
  frames: 'return event.input.toString() + "\\rNTE|1||a\\u001cb"',
  latin: `const ack = event.input.buildAck({ text: 'Grüße' }); return ack;`,
};
type Name = keyof typeof bots | 'empty' | 'unknown';
const ports = {} as Record<Name, number>;

beforeAll(async () => {
  portico = await startPortico();
  const identifier = { system: 'https://example.org/bots', value: 'a b|c' };
  const made = Object.entries(bots).map(async ([name, body]) => {
    const isNamed = name === 'echoes' ? { identifier: [identifier] } : {};
    return [name, await botThat(portico, body, isNamed)] as const;
  });
  const ids = Object.fromEntries(await Promise.all(made));
  const all: Record<Name, string> = {
    ...(ids as Record<keyof typeof bots, string>),
    echoes: `${identifier.system}|${identifier.value}`,
    empty: await createBot(portico),
    unknown: randomUUID(),
  };
  const names = Object.keys(all) as Name[];
  bridge = await startBridge(portico, { listeners: names.map((name) => ({ bot: all[name] })) });
  for (const [at, name] of names.entries()) ports[name] = bridge.ports[at] ?? 0;
});
afterAll(async () => {
  await bridge?.stop();
  await portico?.stop();
});

async function ask(name: Name, message: Buffer | string): Promise<string> {
  const sender = await connectTo(ports[name]);
  try {
    return await sender.ask(message);
  } finally {
    sender.close();
  }
}

describe('a message', () => {
  test('is acknowledged by the Bot', async () => {
    const id = randomUUID();
    expect(msaOf(await ask('acks', messageOf(id)))).toEqual(['AA', id, 'OK']);
    expect(await runsOf(portico, id)).toBe(1);
    const line = await bridge.line('message', { controlId: id });
    expect(line).toMatchObject({ outcome: 'done', ack: 'AA', attempts: 1, isTaken: true, peer: '127.0.0.1' });
  });

  test('that is sent again is answered the same, and runs once', async () => {
    const message = messageOf(randomUUID());
    const answers = [await ask('acks', message), await ask('acks', message), await ask('acks', message)];
    expect(new Set(answers).size).toBe(1);
    expect(await runsOf(portico, msaOf(answers[0] ?? '')[1])).toBe(1);
  });

  test('that is sent again while it runs, on ten connections, runs once', async () => {
    const message = messageOf(randomUUID());
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('acks', message)));
    expect(new Set(answers).size).toBe(1);
    expect(await runsOf(portico, msaOf(answers[0] ?? '')[1])).toBe(1);
  });

  test('with the control id of another is another', async () => {
    const id = randomUUID();
    const [first, second] = [messageOf(id), messageOf(id, {}, ['PID|1||8'])];
    expect([msaOf(await ask('acks', first))[0], msaOf(await ask('acks', second))[0]]).toEqual(['AA', 'AA']);
    expect(await runsOf(portico, id)).toBe(2);
  });

  test('goes to the Bot of its listener, also the same message to several', async () => {
    const id = randomUUID();
    const message = messageOf(id);
    const answers = [await ask('acks', message), await ask('throws', message), await ask('echoes', message)];
    expect(answers.slice(0, 2).map((ack) => msaOf(ack)[0])).toEqual(['AA', 'AE']);
    expect(answers[2]).toBe(`${message}\r`);
    expect(await runsOf(portico, id)).toBe(2);
  });

  test.each<[Name, string[]]>([
    ['nothing', ['AA', 'OK']],
    ['text', ['AA', 'OK']],
    ['refuses', ['AE', 'no such ward']],
    ['throws', ['AE', 'no bed for 7 Gr\u00c3\u00bc\u00c3\u009fe \u00e2\u0082\u00ac']],
    ['empty', ['AE', 'Bot has no deployed code']],
    ['unknown', ['AE', 'Not found']],
  ])('for a Bot that %s is answered %j', async (name, [code, text]) => {
    const id = randomUUID();
    const ack = await ask(name, messageOf(id));
    expect(msaOf(ack)).toEqual([code, id, text]);
    expect(ack).toContain('|PORTICO|DEMO|LAB|CLINIC|');
    if (code !== 'AA') expect(ack).toMatch(/\rERR\|.*\r$/);
  });

  test.each<Name>(['throws', 'refuses'])('that the Bot %s runs again when it is sent again', async (name) => {
    const id = randomUUID();
    const message = messageOf(id);
    for (const _ of [1, 2, 3]) expect(msaOf(await ask(name, message))[0]).toBe('AE');
    expect(await runsOf(portico, id)).toBe(3);
  });

  test('whose answer cannot be framed is AE, and an alarm', async () => {
    const id = randomUUID();
    expect(msaOf(await ask('frames', messageOf(id)))[0]).toBe('AE');
    expect(await bridge.line('outcome-unknown', { controlId: id })).toMatchObject({ level: 'alarm' });
  });

  test.each<[string, Buffer | string, string, string]>([
    ['has no MSH', 'PID|1', 'AR', ''],
    ['is empty', '', 'AR', ''],
    ['is JSON', '{"a":1}', 'AR', ''],
    ['names no separators', 'MSH|||||A', 'AR', ''],
    [
      'is a batch',
      `FHS|^~\\&|A\rBHS|^~\\&|A\r${messageOf('b-1')}\r${messageOf('b-2')}\rBTS|2\rFTS|1`,
      'AR',
      'b-1',
    ],
    ['is two messages', `${messageOf('t-1')}\r${messageOf('t-2')}`, 'AR', 't-1'],
    [
      'is not in its character set',
      Buffer.from(messageOf('c-1', {}, ['PID|1||\xfc']), 'latin1'),
      'AR',
      'c-1',
    ],
  ])('that %s is rejected for good', async (_name, message, code, controlId) => {
    const ack = await ask('acks', message);
    expect(msaOf(ack).slice(0, 2)).toEqual([code, controlId]);
  });

  test('alone in a batch is that message', async () => {
    const id = randomUUID();
    const ack = await ask('acks', `FHS|^~\\&|A\rBHS|^~\\&|A\r${messageOf(id)}\rBTS|1\rFTS|1`);
    expect(msaOf(ack)).toEqual(['AA', id, 'OK']);
    expect(await runsOf(portico, id)).toBe(1);
  });

  test('keeps its bytes and its separators', async () => {
    const bytes = Buffer.from('MSH#*+?%#A#B#C#D#2026##ADT*A01#x-1##2.5######8859/1\rPID#1##\xfc', 'latin1');
    expect(await ask('echoes', bytes)).toBe(`${bytes.toString('latin1')}\r`);
  });

  test.each(['8859/1', '8859/15', 'WINDOWS-1252', 'UNICODE UTF-8', ''])(
    'in %j is answered in it',
    async (charset) => {
      const ack = await ask('latin', messageOf('l-1', { 18: charset }));
      const text = /\d/.test(charset.replace('UTF-8', '')) ? 'Gr\xfc\xdfe' : 'Gr\xc3\xbc\xc3\x9fe';
      expect(msaOf(ack)).toEqual(['AA', 'l-1', text]);
    },
  );
});

describeSamples((files) => {
  test.each([...files])('%s is acknowledged as it asks for', async (file) => {
    const bytes = readSample(file);
    const [msh = ''] = bytes
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .split(/[\r\n]/);
    const [controlId = '', accept = '', application = ''] = [9, 14, 15].map((at) => msh.split('|')[at]);
    const isOriginal = accept === '' && application === '';
    const wanted = [
      ...(accept === 'AL' ? ['CA'] : []),
      ...(isOriginal || application === 'AL' ? ['AA'] : []),
    ];
    const sender = await connectTo(ports.acks);
    sender.send(bytes);
    // What is not asked for would come before the acknowledgement of the second message.
    sender.send(messageOf('after'));
    for (const code of [...wanted.map((ack) => [ack, controlId]), ['AA', 'after']]) {
      expect(msaOf(await sender.next()).slice(0, 2)).toEqual(code);
    }
    sender.close();
  });
});
