import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { longestBodyBytes } from '../../../shared/base/limits.ts';
import { errorCode, errorName } from '../../../shared/base/values.ts';
import { messageOf } from '../../../shared/bots/hl7/message.ts';
import { encodeFrame, FrameDecoder } from '../frames.ts';
import { type MessageHeader, readHeader } from '../hl7.ts';
import type { FeedLog } from '../observe.ts';
import { type AckMode, ackModeOf } from '../receive/acknowledge.ts';
import { readChunk, writeAll } from '../receive/socket-io.ts';
import { readTlsFiles } from '../settings/fields.ts';
import type { SendSettings } from '../settings/settings.ts';

type Answer =
  | { kind: 'accepted'; code: string }
  /** AE or CE: sent again it may be taken. */
  | { kind: 'error'; code: string }
  /** No repeat will mend it, or it is the receiver's business now. */
  | { kind: 'rejected'; code: string }
  | { kind: 'none'; reason: string };

interface Line {
  socket: Socket;
  decoder: FrameDecoder;
}

const never = new AbortController().signal;

/**
 * Waits for the acknowledgements that a message asks for (MSH-15 and MSH-16; one when it says nothing).
 * @param told every acknowledgement of this message, as it came
 */
async function awaitAck(
  line: Line,
  message: MessageHeader,
  timeoutMs: number,
  told: (ack: Buffer) => void,
): Promise<Answer> {
  const untilMs = performance.now() + timeoutMs;
  const wanted = wantedOf(ackModeOf(message));
  let code = '';
  while (wanted.accept || wanted.application || wanted.errors) {
    const ack = await nextAck(line, message.controlId, untilMs - performance.now());
    // Silence is the answer to a message that wants to hear of errors only.
    if (ack === 'silence' && !wanted.accept && !wanted.application) break;
    if (typeof ack === 'string') {
      return code === '' ? { kind: 'none', reason: ack } : { kind: 'rejected', code: `${code}, then ${ack}` };
    }
    told(ack.bytes);
    const isAccepted = code !== '';
    code = ack.code;
    if (/^[AC]R$/.test(code)) return { kind: 'rejected', code };
    if (/^[AC]E$/.test(code)) return { kind: isAccepted ? 'rejected' : 'error', code };
    if (code !== 'AA' && code !== 'CA') return { kind: 'rejected', code: 'no MSA-1' };
    if (code === 'AA') break;
    wanted.accept = false;
    wanted.errors = false;
  }
  return { kind: 'accepted', code };
}

/** AA ends the waiting in any mode; what else is waited for. */
function wantedOf(mode: AckMode): { accept: boolean; application: boolean; errors: boolean } {
  if (mode.kind === 'original') return { accept: true, application: false, errors: false };
  const always = (condition: string) => condition === 'AL' || condition === 'SU';
  return {
    accept: always(mode.accept),
    application: always(mode.application),
    errors: mode.accept === 'ER' || mode.application === 'ER',
  };
}

/** The next acknowledgement of this message; others, of earlier ones that were given up, are passed over. */
async function nextAck(
  { socket, decoder }: Line,
  controlId: string,
  waitMs: number,
): Promise<{ code: string; bytes: Buffer } | string> {
  for (const untilMs = performance.now() + waitMs; ; ) {
    const frame = decoder.next();
    if (frame && frame.kind !== 'message') return frame.kind === 'malformed' ? frame.reason : 'too long';
    const ack = frame && readAck(frame.bytes);
    if (frame && ack && (ack.controlId === controlId || ack.controlId === '')) {
      return { code: ack.code, bytes: frame.bytes };
    }
    if (frame) continue;
    const chunk = await readChunk(socket, untilMs - performance.now(), never);
    if (!Buffer.isBuffer(chunk)) return chunk;
    decoder.push(chunk);
  }
}

function readAck(bytes: Buffer): { code: string; controlId: string } {
  const message = messageOf(bytes.toString('latin1'));
  return { code: message?.getAckType() ?? '', controlId: message?.get('MSA.2') ?? '' };
}

/** A connection that is ready to be written to. @throws {Error} of the system or of TLS, or a time-out */
async function connect({ to, tls, timeoutMs }: SendSettings): Promise<Socket> {
  const servername = isIP(to.host) ? {} : { servername: to.host };
  const socket = tls ? connectTls({ ...to, ...servername, ...(await readTlsFiles(tls)) }) : connectTcp(to);
  try {
    await once(socket, tls ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    // What goes wrong later is seen where it is read or written.
    return socket.on('error', () => undefined);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/**
 * Sends messages one at a time, the next when the one before is accepted. One that gets no answer, AE or CE
 * is sent again with growing pauses; the first that is not accepted in the end stops the queue, so that
 * nothing overtakes it.
 * @param print every acknowledgement
 * @returns whether all were accepted
 */
export async function sendMessages(
  messages: AsyncIterable<Buffer>,
  settings: SendSettings,
  print: (ack: Buffer) => void,
  log: FeedLog,
): Promise<boolean> {
  let line: Line | undefined;
  const tryOnce = async (content: Buffer, message: MessageHeader): Promise<Answer> => {
    try {
      line ??= { socket: await connect(settings), decoder: new FrameDecoder(longestBodyBytes) };
    } catch (error) {
      // The system's word; a text could name what was sent.
      return { kind: 'none', reason: errorCode(error) ?? errorName(error) };
    }
    const isWritten = await writeAll(line.socket, encodeFrame(content), settings.timeoutMs);
    const answer: Answer = isWritten
      ? await awaitAck(line, message, settings.timeoutMs, print)
      : { kind: 'none', reason: 'closed' };
    // An answer that comes late would be taken for that of the next attempt.
    if (answer.kind === 'none') {
      line.socket.destroy();
      line = undefined;
    }
    return answer;
  };
  try {
    for await (const content of messages) {
      const message = readHeader(content);
      if (!message) {
        log('error', 'not-sent', { reason: 'MSH names no separators' });
        return false;
      }
      if (!(await sendOne(settings.attempts, message.controlId, log, () => tryOnce(content, message))))
        return false;
    }
    return true;
  } finally {
    line?.socket.end();
  }
}

async function sendOne(
  attempts: number,
  controlId: string,
  log: FeedLog,
  tryOnce: () => Promise<Answer>,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const answer = await tryOnce();
    const said = 'code' in answer ? { ack: answer.code } : { reason: answer.reason };
    const isLast = answer.kind === 'accepted' || answer.kind === 'rejected' || attempt >= attempts;
    const level = answer.kind === 'accepted' ? 'info' : isLast ? 'error' : 'warn';
    log(level, answer.kind === 'accepted' ? 'sent' : 'not-accepted', { controlId, attempt, ...said });
    if (isLast) return answer.kind === 'accepted';
    await pause(Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1)));
  }
}

/** Input that is not HL7 v2 messages. The text never quotes it. */
export class NotMessages extends Error {
  override readonly name = 'NotMessages';
}

/** Line ends and the bounds of MLLP frames. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: frames are made of them
const mark = /([\r\n\v\u001c])/;
const envelope = new Set(['FHS', 'BHS', 'BTS', 'FTS']);

/**
 * The messages of a file or stream, each as soon as the next begins or the input ends: one after the
 * other, in MLLP frames, or in the envelope of a batch, which is left out. Line ends become the CR that the
 * standard wants; everything else stays as it is.
 * @throws {NotMessages}
 */
export async function* splitMessages(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let segments: string[] = [];
  let length = 0;
  let open = '';
  function* end(): Generator<Buffer> {
    if (segments.length > 0) yield Buffer.from(`${segments.join('\r')}\r`, 'latin1');
    segments = [];
    length = 0;
  }
  function* take(line: string): Generator<Buffer> {
    const segment = line.replace(/^\xef\xbb\xbf/, '');
    const name = segment.slice(0, 3);
    if (name === 'MSH' || envelope.has(name)) yield* end();
    if (segment.trim() === '' || envelope.has(name)) return;
    if (name !== 'MSH' && segments.length === 0) throw new NotMessages('A message must start with MSH');
    segments.push(segment);
    length += segment.length + 1;
    if (length > longestBodyBytes)
      throw new NotMessages(`A message is longer than ${longestBodyBytes} bytes`);
  }
  for await (const chunk of input) {
    // Every byte is a character, so that no character set is assumed.
    const pieces = Buffer.from(chunk).toString('latin1').split(mark);
    for (let at = 0; at < pieces.length; at += 2) {
      open += pieces[at] ?? '';
      const after = pieces[at + 1];
      if (after === undefined) break;
      yield* take(open);
      open = '';
      if (after === '\v' || after === '\x1c') yield* end();
    }
    if (open.length > longestBodyBytes)
      throw new NotMessages(`A message is longer than ${longestBodyBytes} bytes`);
  }
  yield* take(open);
  yield* end();
}
