import { Refusal } from '../../refusal.ts';
import { runRecordLists } from '../../store/run-lists.ts';
import { readTimed, type TimedReading } from '../../store/timed-list.ts';
import type { Item } from '../../table/item.ts';
import { type Key, keys } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** Bots that ran in one stretch of time: each has lists of its own to be read. */
const mostBots = 250;

interface Executions {
  table: Table;
  project: string;
  reading: TimedReading;
  /** Whether a Bot's runs may be among the hits. */
  isWanted(botId: string): boolean;
}

/**
 * The records of all Bots' runs in the order of time. Only Bots are asked that ran on the days in
 * question: first of one day, then of two, of four …, so that idle Bots and idle days cost nothing.
 * @throws {Refusal} too-costly
 */
export async function* listExecutions(executions: Executions): AsyncGenerator<Item> {
  let window = emptyWindow();
  let days = 1;
  for await (const { day, botId } of runDays(executions)) {
    if (window.days.size === days && !window.days.has(day)) {
      yield* readWindow(executions, window);
      window = emptyWindow();
      days *= 2;
    }
    window.days.add(day);
    window.bots.add(botId);
    if (window.bots.size > mostBots) throw tooMany();
  }
  yield* readWindow(executions, window);
}

interface Window {
  days: Set<string>;
  bots: Set<string>;
}

function emptyWindow(): Window {
  return { days: new Set(), bots: new Set() };
}

async function* readWindow(
  { table, project, reading }: Executions,
  { days, bots }: Window,
): AsyncGenerator<Item> {
  if (bots.size === 0) return;
  const all = [...days].sort();
  const lists = [...bots].flatMap((botId) => runRecordLists(project, botId));
  const [first = '', last = ''] = [all[0], all.at(-1)];
  yield* readTimed(table, lists, {
    ...reading,
    from: later(reading.from, `${first}T00:00:00.000Z`),
    to: earlier(reading.to, `${last}T23:59:59.999Z`),
  });
}

/** Which Bots ran on which day, in the order of the reading. */
export async function* runDays({
  table,
  project,
  reading,
  isWanted,
}: Executions): AsyncGenerator<{ day: string; botId: string }> {
  const { from, to, after, newestFirst } = reading;
  const dayOf = (instant: string | undefined) => instant?.slice(0, 10);
  const start = newestFirst ? dayOf(from) : dayOf(later(from, after));
  const end = newestFirst ? dayOf(earlier(to, after)) : dayOf(to);
  const { pk } = keys.runDay(project, '', '');
  const [low, high] = [start ?? '0', `${end ?? ''}~`];
  if (low > high) return;
  let next: Key | undefined;
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': low, ':to': high },
      ScanIndexForward: !newestFirst,
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    for (const { sk } of page.items) {
      const [day = '', botId = ''] = sk.split('#');
      if (isWanted(botId)) yield { day, botId };
    }
    next = page.next;
  } while (next);
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

function tooMany(): Refusal {
  return new Refusal(
    'too-costly',
    `The search would look through the runs of more than ${mostBots} Bots: add entity=Bot/<id>, a later date, or another subtype`,
  );
}
