import { inParallel } from '../../shared/base/in-parallel.ts';
import { errorText } from '../../shared/base/values.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import type { ScannedPage } from '../../shared/carry/table/scan-page.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { type Classified, classify, expires, rulesFor } from './key-rules.ts';
import { type Look, lookAt, type TableFinding } from './rule.ts';

/** All that is wrong with an item; what no longer is there, or has expired, is right. */
async function checkItem(item: Item, look: Look): Promise<TableFinding[]> {
  const found = classify(item);
  if (!found) return [{ text: 'its key is of no known pattern' }];
  const project = projectIn(found, item);
  const head = project === undefined ? undefined : await look.get(keys.resource(project, 'Project', project));
  // It goes item by item, in no order that rules could know; the head of the Project goes last.
  if (head?.deletion === true) return [];
  const { rules, named } = rulesFor(found, item);
  const findings = await Promise.all(
    rules.map((rule) =>
      rule(item, named, look).catch((error: unknown) => [{ text: `it cannot be read: ${errorText(error)}` }]),
    ),
  );
  const staysForEver = expires[found.pattern] && item.ttl === undefined;
  return [
    ...findings.flat(),
    ...(staysForEver ? [{ text: 'it has no time to live' }] : []),
    // What belongs to a Project belongs to one that there is.
    ...(project === undefined || head ? [] : [{ text: `there is no Project ${project}` }]),
  ];
}

/** The Project that a key names; undefined for what belongs to none. */
function projectIn({ pattern, named }: Classified, { pk }: Key): string | undefined {
  if (pattern === 'userMembership') return named[1];
  return pk.startsWith('P#') || pattern === 'outbox' ? named[0] : undefined;
}

/** Something that does not hold: the item, and what is wrong with it. */
export interface Violation extends Key {
  text: string;
}

/** How far a check has come: all that another process needs to go on with it. */
export interface Progress {
  /** Where it goes on; undefined at the end. */
  from: Key | undefined;
  done: boolean;
  items: number;
  violations: number;
  /** What may still become right by itself: the work that follows a recent write. */
  settling: number;
}

export const beginning: Progress = { from: undefined, done: false, items: 0, violations: 0, settling: 0 };

export interface CheckOptions {
  table: Table;
  scan(from: Key | undefined): Promise<ScannedPage>;
  now(): number;
  /** How long what follows a write may take. */
  settleMs: number;
  /** Before each further look at what seems wrong. */
  pause(ms: number): Promise<void>;
  report(violation: Violation): void;
}

/**
 * Checks every item of a table beside live writes, a page at a time. Rules read several items one after the other, so
 * a write in between may look like a fault: what seems wrong is read and judged again, later and later, and
 * reported only when it is wrong each time.
 * @param progress of an earlier check that was stopped
 */
export async function* checkTable(
  options: CheckOptions,
  progress: Progress = beginning,
): AsyncGenerator<Progress> {
  let { from, items, violations, settling } = progress;
  for (let done = progress.done; !done; ) {
    const page = await options.scan(from);
    const alive = page.items.filter(({ ttl }) => typeof ttl !== 'number' || ttl * 1000 > options.now());
    const look = lookAt(options.table, options.settleMs);
    const found: Violation[] = [];
    await inParallel(alive, atOnce, async (item) => {
      const findings = await checkItem(item, look);
      if (findings.length === 0) return;
      const lasting = await judgeAgain(options, item, findings);
      found.push(...lasting.wrong.map(({ text }) => ({ pk: item.pk, sk: item.sk, text })));
      settling += lasting.settling;
    });
    // Only now: a page that could not be looked at is looked at again, whole.
    for (const violation of found) options.report(violation);
    violations += found.length;
    items += alive.length;
    from = page.next;
    done = from === undefined;
    yield { from, done, items, violations, settling };
  }
}

/** Items that are looked at together. */
const atOnce = 64;

/** A request lives no longer than the last of these. */
const pausesMs = [50, 500, 5_000, 30_000];

async function judgeAgain(
  { table, now, pause, settleMs }: CheckOptions,
  { pk, sk }: Item,
  first: readonly TableFinding[],
): Promise<{ wrong: TableFinding[]; settling: number }> {
  let findings = first;
  for (const ms of pausesMs) {
    // Work that follows a write is waited for by whoever runs the check again.
    if (findings.every((one) => isSettling(one, now()))) break;
    await pause(ms);
    const look: Look = lookAt(table, settleMs);
    const item = (await table.read([{ pk, sk }])).get({ pk, sk });
    const again = item ? await checkItem(item, look) : [];
    findings = again.filter(({ text }) => findings.some((before) => kindOf(before.text) === kindOf(text)));
    if (findings.length === 0) return { wrong: [], settling: 0 };
  }
  const wrong = findings.filter((one) => !isSettling(one, now()));
  return { wrong, settling: findings.length - wrong.length };
}

function isSettling({ settlesAtMs }: TableFinding, nowMs: number): boolean {
  return settlesAtMs !== undefined && settlesAtMs > nowMs;
}

/** Numbers and ids in a finding change as others write. */
function kindOf(text: string): string {
  return text.replace(/[\w-]*\d[\w-]*/g, '');
}
