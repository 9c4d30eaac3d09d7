import { type Answer, sendBatch } from './calls.ts';
import type { Destination } from './connect.ts';
import { presentOf } from './look-up.ts';
import type { Entry } from './read-entries.ts';
import type { Report } from './report.ts';

/** An entry as it will be sent: it creates a resource under this id if there is none. */
export interface Ready {
  entry: Entry;
  /** `Type/id` */
  reference: string;
  /** JSON of an entry of a batch. */
  text: string;
}

export interface Sender {
  /** Takes one more; waits while too much is on its way. @throws {Error} the service stayed away */
  send(ready: Ready): Promise<void>;
  /** Resolves when everything was answered. @throws {Error} the service stayed away */
  end(): Promise<void>;
}

const mostEntries = 100;
/** A quarter of what a request may hold: as many values as the service works on at once. */
const mostCharacters = 1_000_000;
/** Requests on their way. */
const atOnce = 3;

/** Sends entries as batches, several at once. */
export function startSender(destination: Destination, report: Report): Sender {
  /** The service may have what comes next: it is asked before anything is written. */
  const state = { asks: true };
  const lanes = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let piece: Ready[] = [];
  let characters = 0;
  const flush = async () => {
    const full = piece;
    [piece, characters] = [[], 0];
    if (full.length === 0) return;
    const lane = sendPiece(destination, report, state, full)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => lanes.delete(lane));
    lanes.add(lane);
    if (lanes.size >= atOnce) await Promise.race(lanes);
    if (failures.length > 0) throw failures[0];
  };
  return {
    async send(ready) {
      if (piece.length === mostEntries || characters + ready.text.length > mostCharacters) await flush();
      piece.push(ready);
      characters += ready.text.length;
    },
    async end() {
      await flush();
      await Promise.all(lanes);
      if (failures.length > 0) throw failures[0];
    },
  };
}

async function sendPiece(
  destination: Destination,
  report: Report,
  state: { asks: boolean },
  piece: readonly Ready[],
): Promise<void> {
  const names = piece.map(({ reference }) => reference);
  const present = state.asks ? await presentOf(destination.portico, names) : new Set<string>();
  state.asks = present.size > 0;
  const missing = piece.filter(({ reference }) => !present.has(reference));
  for (let there = piece.length - missing.length; there > 0; there -= 1) report.count('present');
  await write(destination, report, state, missing);
}

/** What one request cannot do is done in halves. */
async function write(
  destination: Destination,
  report: Report,
  state: { asks: boolean },
  piece: readonly Ready[],
): Promise<void> {
  if (piece.length === 0) return;
  const texts = piece.map(({ text }) => text);
  const answers = await sendBatch(destination.portico, texts, destination.headers);
  const left: Ready[] = [];
  for (const [at, ready] of piece.entries()) {
    const answer = answers ? answers[at] : tooMuch;
    const isUndone = !answer || answer.status >= 500 || answer.status === 429 || answer.code === 'too-costly';
    if (isUndone && piece.length > 1) left.push(ready);
    else if (answer?.status === 201 || answer?.status === 200) report.count('created');
    else if (answer?.status === 412) {
      state.asks = true;
      report.count('present');
    } else await report.refused(ready.entry, answer?.status, answer?.text ?? 'No answer');
  }
  const half = Math.ceil(left.length / 2);
  await write(destination, report, state, left.slice(0, half));
  await write(destination, report, state, left.slice(half));
}

const tooMuch: Answer = {
  status: 413,
  resource: undefined,
  text: 'Larger, or costlier, than one request may be',
  code: 'too-costly',
};
