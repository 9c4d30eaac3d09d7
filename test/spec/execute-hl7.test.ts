import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeSamples, readSample } from '../setup/sample-messages.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, execute } from './running.ts';

const type = 'x-application/hl7-v2+er7';

let portico: Portico;
/** Reads type and patient, and acknowledges with them. */
let reader = '';
/** Answers the message that it was given. */
let echo = '';

beforeAll(async () => {
  portico = await startPortico();
  reader = await botThat(
    portico,
    `const message = event.input;
     const read = (path) => message.get(path) ?? '';
     const pid = message.getSegment('PID');
     const patient = pid ? [pid.getComponent(3, 1), pid.getComponent(5, 1)] : ['', ''];
     const text = [read('MSH.9.1') + '^' + read('MSH.9.2'), read('PID.3.1'), read('PID.5.1')].join(';');
     if (patient.join() !== [read('PID.3.1'), read('PID.5.1')].join()) throw new Error('two ways, two patients');
     return message.buildAck({ ackCode: 'AA', text });`,
  );
  echo = await botThat(portico, 'return event.input');
});
afterAll(() => portico.stop());

function segmentsOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
}

/** As a receiver with nothing but split would read it. */
function readPlainly(text: string, name: string, field: number, component: number): string {
  const segment = segmentsOf(text).find((line) => line.startsWith(`${name}|`)) ?? '';
  const at = name === 'MSH' ? field - 1 : field;
  return segment.split('|')[at]?.split('~')[0]?.split('^')[component - 1] ?? '';
}

describeSamples((files) => {
  test.each([...files])('%s comes back segment for segment, and is acknowledged', async (file) => {
    const bytes = readSample(file);
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    const [back, ack] = await Promise.all([
      execute(portico, echo, bytes, type),
      execute(portico, reader, bytes, type),
    ]);
    expect([back.status, back.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(back.text.split('\r')).toEqual(segmentsOf(text));

    expect([ack.status, ack.text]).toEqual([200, ack.text]);
    const [msh = '', msa = ''] = ack.text.split('\r');
    expect(msh.split('|').slice(2, 6)).toEqual([
      ...(segmentsOf(text)[0] ?? '').split('|').slice(4, 6),
      ...(segmentsOf(text)[0] ?? '').split('|').slice(2, 4),
    ]);
    const [name, code, control, said = ''] = msa.split('|');
    expect([name, code, control]).toEqual(['MSA', 'AA', readPlainly(text, 'MSH', 10, 1)]);
    const [messageType, id, family] = said.replaceAll('\\S\\', '^').replaceAll('\\T\\', '&').split(';');
    expect(messageType).toBe(`${readPlainly(text, 'MSH', 9, 1)}^${readPlainly(text, 'MSH', 9, 2)}`);
    expect([id, family]).toEqual([readPlainly(text, 'PID', 3, 1), readPlainly(text, 'PID', 5, 1)]);
  });
});

describe('a message', () => {
  const message = [
    'MSH|^~\\&|A|B|C|D|20260101||ADT^A01|7|P|2.5',
    'PID|1||7~8||Doe^Jane',
    'NTE|1||a\\.br\\b\\T\\c',
  ];

  test.each([
    ['CR', message.join('\r')],
    ['CR at its end too', `${message.join('\r')}\r`],
    ['LF', message.join('\n')],
    ['CRLF', message.join('\r\n')],
    ['mixed ends', `${message[0]}\r\n${message[1]}\n${message[2]}\r`],
    ['a byte order mark', `\uFEFF${message.join('\r')}`],
    ['MLLP framing', `\x0b${message.join('\r')}\r\x1c\r`],
  ])('with %s comes back segment for segment', async (_name, text) => {
    const answer = await execute(portico, echo, text, type);
    expect([answer.status, segmentsOf(answer.text)]).toEqual([200, message]);
  });

  test('with separators of its own is read by them and answered in them', async () => {
    const own = 'MSH#*+?%#A#B#C#D#20260101##ADT*A01#7#P#2.5\rPID#1##99##Doe*Jane';
    const answer = await execute(portico, reader, own, type);
    expect([answer.status, answer.text]).toEqual([
      200,
      expect.stringMatching(/^MSH#\*\+\?%#C#D#A#B#.*\rMSA#AA#7#ADT.*;99;Doe/),
    ]);
  });

  test('of 4 MiB is read in time', async () => {
    const head = `${message.join('\r')}\rOBX|1|ED|PDF||`;
    const text = head + 'A'.repeat(4 * 1024 * 1024 - head.length);
    const beganAt = performance.now();
    const answer = await execute(portico, echo, text, type);
    expect([answer.status, answer.text.length]).toEqual([200, text.length]);
    expect(performance.now() - beganAt).toBeLessThan(20_000);
  });

  test.each([
    ['nothing', ''],
    ['white space', '\r\n'],
    ['MSH alone', 'MSH'],
    ['no MSH', 'PID|1'],
    ['JSON', '{"a":1}'],
    ['separators that are one', 'MSH|||||A'],
  ])('that is %s is refused', async (_name, text) => {
    const answer = await execute(portico, echo, text, type);
    expect([answer.status, answer.json?.issue?.[0]?.code]).toEqual([400, 'invalid']);
  });

  test('alone in a batch runs as that message; several are refused', async () => {
    const batch = (...messages: string[][]) =>
      ['FHS|^~\\&|A', 'BHS|^~\\&|A', ...messages.flat(), `BTS|${messages.length}`, 'FTS|1'].join('\r');
    const one = await execute(portico, echo, batch(message), type);
    expect([one.status, segmentsOf(one.text)]).toEqual([200, message]);
    const two = await execute(portico, echo, batch(message, message), type);
    expect([two.status, two.json.issue[0].details.text]).toEqual([
      400,
      'The batch (FHS, BHS) holds 2 messages: send them one by one',
    ]);
  });

  const inCharset = (name: string, text: string) =>
    Buffer.from(`MSH|^~\\&|A|B|C|D|2026||ADT^A01|7|P|2.5||||||${name}\rPID|1||7||${text}`, 'latin1');

  test.each([
    ['8859/1', '\xe4\xa4', 'iso-8859-1'],
    ['8859/15', '\xe4\xa4', 'iso-8859-15'],
    ['8859/2', '\xb3', 'iso-8859-2'],
    ['WINDOWS-1252', '\x80', 'windows-1252'],
    ['UNICODE UTF-8', '\xc3\xa4', 'utf-8'],
    ['', '\xc3\xa4', 'utf-8'],
    ['ISO IR87', 'plain', 'utf-8'],
  ])('in %j comes back byte for byte, in it', async (name, text, charset) => {
    const bytes = inCharset(name, text);
    const answer = await raw(echo, bytes);
    expect([answer.status, answer.contentType]).toEqual([200, `${type}; charset=${charset}`]);
    expect(answer.bytes).toEqual(bytes);
  });

  test('is read in its character set, and answered in UTF-8 where it cannot say the answer', async () => {
    const bot = await botThat(portico, "return event.input.get('PID.5') === '€' ? '€ Ж' : 'misread'");
    const answer = await raw(bot, inCharset('8859/15', '\xa4'));
    expect([answer.contentType, answer.bytes.toString()]).toEqual([`${type}; charset=utf-8`, '€ Ж']);
  });

  test('with bytes that do not fit is refused, saying how to send it', async () => {
    const unnamed = await execute(portico, echo, inCharset('', '\xe4'), type);
    expect([unnamed.status, unnamed.json.issue[0].details.text]).toEqual([
      400,
      'The body is not valid utf-8: name its character set in MSH-18, or send it with charset=iso-8859-1',
    ]);
    expect((await raw(echo, inCharset('', '\xe4'), `${type}; charset=iso-8859-1`)).bytes).toEqual(
      inCharset('', '\xe4'),
    );
    expect((await execute(portico, echo, inCharset('ISO IR87', '\xe4'), type)).status).toBe(415);
    expect((await execute(portico, echo, inCharset('8859/3', '\xa5'), type)).status).toBe(400);
  });

  test('with its escape character doubled, as some samples have it, is acknowledged', async () => {
    const answer = await execute(portico, reader, message.join('\r').replace('^~\\&', '^~\\\\&'), type);
    expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/\rMSA\|AA\|7\|/)]);
  });
});

/** An execute whose answer is kept as bytes. */
async function raw(
  bot: string,
  body: Buffer,
  contentType = type,
): Promise<{ status: number; contentType: string | null; bytes: Buffer }> {
  const response = await fetch(`${portico.baseUrl}/fhir/R4/Bot/${bot}/$execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await portico.token()}`, 'content-type': contentType },
    body: new Uint8Array(body),
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}
