import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { runProgram } from './bridge.ts';
import { ackOf, type Behaviour, startReceiver } from './receiver.ts';
import { messageOf } from './sender.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-mllp-send-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.stop();
});

interface Sending {
  input?: string | Buffer;
  args?: string[];
  behaviours?: Behaviour[];
}

/** Sends two messages unless told otherwise, waiting a second for each answer. */
async function send({
  input = `${messageOf('1')}\r${messageOf('2')}`,
  args = [],
  behaviours = [['AA']],
}: Sending) {
  const receiver = await startReceiver(behaviours);
  open.push(receiver);
  const all = ['--send', receiver.port, '--timeout', '1', ...args];
  const { code, stdout, stderr } = await runProgram(all, { input });
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  return { code, stdout, stderr, log: lines.map((line) => JSON.parse(line)), receiver };
}

describe('--send', () => {
  test('sends one after the other, shows each acknowledgement, and ends with 0', async () => {
    const { code, stdout, log, receiver } = await send({});
    expect([code, receiver.ids()]).toEqual([0, ['1', '2']]);
    expect(stdout).toBe(
      'MSH|^~\\&|R|||||2026||ACK|a|P|2.5.1\nMSA|AA|1\nMSH|^~\\&|R|||||2026||ACK|a|P|2.5.1\nMSA|AA|2\n',
    );
    expect(log).toMatchObject([
      { event: 'sent', controlId: '1', ack: 'AA' },
      { event: 'sent', controlId: '2' },
    ]);
  });

  test('sends files, and standard input where it is named; a message ends with its file', async () => {
    const files = ['a', 'b'].map((name) => join(folder, `${name}.hl7`));
    for (const [at, file] of files.entries())
      writeFileSync(file, messageOf(`file-${at}`).replaceAll('\r', '\r\n'));
    const args = [files[0] ?? '', '-', files[1] ?? ''];
    const { code, receiver } = await send({ args, input: messageOf('stdin') });
    expect([code, receiver.ids()]).toEqual([0, ['file-0', 'stdin', 'file-1']]);
    expect(receiver.received[0]?.text).toBe(`${messageOf('file-0')}\r`);
  });

  test.each<[string, Behaviour]>([
    ['AE', ['AE']],
    ['CE', ['CE']],
    ['no answer', []],
    ['the end of the connection', 'cut'],
    ['what is no frame', (socket) => void socket.write('AA')],
  ])('sends again on %s, before any other message', async (_name, behaviour) => {
    const { code, receiver, log } = await send({ behaviours: [behaviour, ['AA']] });
    expect([code, receiver.ids()]).toEqual([0, ['1', '1', '2']]);
    expect(log.map(({ event, attempt }) => [event, attempt])).toEqual([
      ['not-accepted', 1],
      ['sent', 2],
      ['sent', 1],
    ]);
  });

  test.each<[string, Behaviour, string[]]>([
    ['AR', ['AR'], ['1']],
    ['CR', ['CR'], ['1']],
    ['an answer without code', ['XX'], ['1']],
    ['AE each time', ['AE'], ['1', '1']],
    ['no answer each time', [], ['1', '1']],
  ])('stops with 1 on %s: nothing overtakes a message', async (_name, behaviour, ids) => {
    const { code, receiver, log } = await send({ behaviours: [behaviour], args: ['--attempts', '2'] });
    expect([code, receiver.ids(), log.at(-1)?.level]).toEqual([1, ids, 'error']);
  });

  test('takes no acknowledgement of another message, nor one that comes after it gave up', async () => {
    const late: Behaviour = (socket, controlId) => {
      socket.write(ackOf('AA', 'other'));
      setTimeout(() => socket.write(ackOf('AR', controlId)), 1200);
    };
    const { code, receiver, log } = await send({ behaviours: [late, ['AA']] });
    expect([code, receiver.ids(), log[0]?.reason]).toEqual([0, ['1', '1', '2'], 'silence']);
  });

  test('takes an acknowledgement that names no message', async () => {
    const nameless: Behaviour = (socket) => void socket.write(ackOf('AA', ''));
    const { code, receiver } = await send({ behaviours: [nameless] });
    expect([code, receiver.ids()]).toEqual([0, ['1', '2']]);
  });

  test('gives up with 1 where nobody listens', async () => {
    const args = ['--send', String(await freePort()), '--attempts', '2'];
    const { code, stderr } = await runProgram(args, { input: messageOf('1') });
    expect([code, stderr.match(/ECONNREFUSED/g)?.length]).toEqual([1, 2]);
  });

  test.each<[string, string, Behaviour, number, string[]]>([
    ['AL', 'AL', ['CA', 'AA'], 0, ['1']],
    ['AL', 'NE', ['CA'], 0, ['1']],
    ['AL', 'AL', ['AA'], 0, ['1']],
    ['NE', 'NE', [], 0, ['1']],
    ['ER', 'NE', [], 0, ['1']],
    ['ER', 'NE', ['CR'], 1, ['1']],
    ['SU', 'NE', [], 1, ['1', '1']],
    ['AL', 'AL', ['CE'], 1, ['1', '1']],
    // It was accepted: sent again it could run again.
    ['AL', 'AL', ['CA', 'AE'], 1, ['1']],
    ['AL', 'AL', ['CA'], 1, ['1']],
  ])(
    'waits for what MSH-15 %s and MSH-16 %s ask for: %j ends with %i',
    async (accept, application, behaviour, status, ids) => {
      const input = messageOf('1', { 15: accept, 16: application });
      const { code, receiver } = await send({ input, behaviours: [behaviour], args: ['--attempts', '2'] });
      expect([code, receiver.ids()]).toEqual([status, ids]);
    },
  );

  test.each<[string, string | Buffer, string[]]>([
    ['is empty', '', []],
    ['is no message', 'Quokka', []],
    ['goes on as none', `${messageOf('1')}\rMSH`, ['1']],
  ])('input that %s', async (_name, input, ids) => {
    const { code, receiver, stderr } = await send({ input });
    expect([code, receiver.ids()]).toEqual([input === '' ? 0 : 1, ids]);
    expect(stderr).not.toContain('Quokka');
  });

  test('a file that is not there ends it with 1', async () => {
    const { code, stderr } = await send({ args: [join(folder, 'none.hl7')] });
    expect([code, stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
  });
});
