import type { Log } from '../base/log.ts';
import { Recent } from '../base/recent.ts';
import { Refusal } from '../base/refusal.ts';
import { errorName, isKeyOf } from '../base/values.ts';
import { count } from './table/counter.ts';
import { keys } from './table/keys.ts';
import type { Table } from './table/table.ts';

interface FunctionShare {
  /** Of the executions that Lambda allows the account at once, in hundredths. */
  percent: number;
  /** Kept for the function, which gets no more. Else it is the most of what is left for all others. */
  isReserved: boolean;
  /** What one Project may have of it, in hundredths; `usualShares` when left out. */
  ofProject?: number;
}

/**
 * Who gets what of the account's concurrency. Signing in, tokens and what is a person's own have theirs whatever Bots
 * do, enough for the shift of a clinic at once; who starts Bots is bounded, and with it the invokers, which have no share:
 * Lambda would allow a function with a smaller share fewer environments of tenants (2,500 for 1,000).
 */
export const functionShares = {
  token: { percent: 8, isReserved: true },
  login: { percent: 8, isReserved: true },
  account: { percent: 8, isReserved: true, ofProject: 75 },
  members: { percent: 4, isReserved: true },
  'execute-by-id': { percent: 12, isReserved: true },
  'execute-by-identifier': { percent: 12, isReserved: true },
  jobs: { percent: 5, isReserved: true },
  invite: { percent: 40, isReserved: false },
  resources: { percent: 20, isReserved: false },
  bots: { percent: 6, isReserved: false },
  subscriptions: { percent: 4, isReserved: false },
} as const satisfies Record<string, FunctionShare>;

export type SharedFunction = keyof typeof functionShares;

/** What one Project, and one source without a token, may have of a function's, in hundredths. */
export const usualShares = { project: 50, source: 75 };

/** With less than this functions have no shares: they would be too small to work with; a new account has 10. */
export const leastToShare = 400;

/** How many executions a function has at once. */
export function executionsOf(name: SharedFunction, accountConcurrency: number): number {
  if (accountConcurrency < leastToShare) return accountConcurrency;
  return Math.floor((accountConcurrency * functionShares[name].percent) / 100);
}

/** @returns executions at once that are kept for the function; undefined for one without a share */
export function reservedFor(folder: string, accountConcurrency: number): number | undefined {
  if (accountConcurrency < leastToShare || !isKeyOf(functionShares, folder)) return undefined;
  return functionShares[folder].isReserved ? executionsOf(folder, accountConcurrency) : undefined;
}

/** What a stage says of shares, in hundredths; `usualShares` when left out. */
export interface StageShares {
  accountConcurrency: number;
  projectShare?: number | undefined;
  sourceShare?: number | undefined;
}

/** Who has a share: a Project, or from where somebody comes who shows no token. */
export type Owner = { project: string } | { source: string };

/** How many executions of a function an owner may have at once. @param percent provisioned for the Project */
export function shareOf(name: SharedFunction, stage: StageShares, owner: Owner, percent?: number): number {
  const ofFunction: FunctionShare = functionShares[name];
  const { project, source } = usualShares;
  const hundredths =
    'project' in owner
      ? (percent ?? stage.projectShare ?? ofFunction.ofProject ?? project)
      : (stage.sourceShare ?? source);
  return Math.max(1, Math.floor((executionsOf(name, stage.accountConcurrency) * hundredths) / 100));
}

/** Of an owner, in this process. */
interface Held {
  owner: string;
  most: number;
  /** Executions that go on. */
  inside: number;
  /** Since `sinceMs`, summed up until `untilMs`. */
  busyMs: number;
  sinceMs: number;
  untilMs: number;
  /** Of those who come, so many are let in: from 1 for all of them down to `leastPart`. */
  part: number;
  /** Grows by that for each who comes; one is let in for each whole. Processes begin apart, or they would all let in at once. */
  credit: number;
  reporting: Promise<void> | undefined;
}

interface SharesOptions {
  name: SharedFunction;
  stage: StageShares;
  /** This one serves all there is at once; else there are many, each with one execution at a time, as on Lambda. */
  isOnlyProcess: boolean;
  table: Pick<Table, 'read' | 'update' | 'updateIf'>;
  log: Log;
  now(): number;
}

const roundMs = 1_000;
const leastPart = 0.02;
/** By so much more are let in again in a round in which there was room. */
const recovery = 1.1;

/**
 * What one function lets each Project, and each source without a token, have of its executions at once.
 *
 * Nothing is counted for each request. A process sums up what it does for an owner, and where all processes could come
 * to half of the share if they did as much, it adds its sum of the last second to an item of this second, and learns what
 * all together have. When that is more than the share, each lets only that part in which leads back to it, and more
 * again when there is room: within some seconds an owner has its share, however many processes there are. What a process
 * sees by itself holds at once.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #owners = new Recent<Held>(10_000);
  readonly #busy = new Set<Held>();
  readonly #percents = new Recent<number>(10_000);
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** What is provisioned for a Project, in hundredths, as it was last read. */
  provision(project: string, percent: number | undefined): void {
    if (percent === undefined && this.#percents.get(project) === undefined) return;
    this.#percents.set(project, percent ?? 0);
  }

  /**
   * Begins an execution for an owner.
   * @returns to be called at its end; resolves when what had to be told of it has been
   * @throws {Refusal} throttled
   */
  enter(owner: Owner): () => Promise<void> {
    const held = this.#heldBy(owner);
    this.#turnRound(held);
    const credit = held.credit + held.part;
    if (held.inside >= held.most || credit < 1) {
      held.credit = Math.min(1, credit);
      throw tooMany(owner);
    }
    held.credit = credit - 1;
    this.#sum(held);
    held.inside += 1;
    this.#busy.add(held);
    this.#timer ??= setInterval(() => this.#look(), roundMs).unref();
    return async () => {
      this.#sum(held);
      held.inside -= 1;
      if (held.inside === 0) this.#busy.delete(held);
      await held.reporting;
    };
  }

  #heldBy(owner: Owner): Held {
    const { name, stage, now } = this.#options;
    const id = 'project' in owner ? `P#${owner.project}` : `S#${owner.source}`;
    const percent = 'project' in owner ? this.#percents.get(owner.project) || undefined : undefined;
    const most = shareOf(name, stage, owner, percent);
    const known = this.#owners.get(id);
    if (known) return Object.assign(known, { most });
    const nowMs = now();
    const held: Held = {
      ...{ owner: id, most, inside: 0, busyMs: 0, sinceMs: nowMs, untilMs: nowMs },
      ...{ part: 1, credit: Math.random(), reporting: undefined },
    };
    this.#owners.set(id, held);
    return held;
  }

  /** While something goes on that takes longer than a round. */
  #look(): void {
    for (const held of this.#busy) this.#turnRound(held);
    if (this.#busy.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sum(held: Held): void {
    const nowMs = this.#options.now();
    held.busyMs += held.inside * Math.max(0, nowMs - held.untilMs);
    held.untilMs = nowMs;
  }

  #turnRound(held: Held): void {
    this.#sum(held);
    const lastedMs = held.untilMs - held.sinceMs;
    if (lastedMs < roundMs) return;
    const own = held.busyMs / lastedMs;
    held.busyMs = 0;
    held.sinceMs = held.untilMs;
    // As many processes as it takes to come to twice the share.
    const processes = this.#options.isOnlyProcess ? 1 : 2 * held.most;
    if (own * processes < held.most / 2)
      held.part = Math.min(1, held.part * recovery ** (lastedMs / roundMs));
    else held.reporting = this.#report(held, own);
  }

  async #report(held: Held, own: number): Promise<void> {
    const { name, table, log, now } = this.#options;
    const second = Math.floor(now() / 1000);
    const before = keys.share(name, held.owner, second - 1);
    try {
      const [told, found] = await Promise.all([
        count({ table }, keys.share(name, held.owner, second), {
          ...{ name: 'sum', by: own, untilSeconds: second + 60 },
        }),
        table.read([before]),
      ]);
      const together = Math.max(told, Number(found.get(before)?.sum ?? 0));
      const change = Math.min(recovery, held.most / together);
      held.part = Math.min(1, Math.max(leastPart, held.part * change));
    } catch (error) {
      log.error('share not told', { error: errorName(error) });
    }
  }
}

function tooMany(owner: Owner): Refusal {
  const whose = 'project' in owner ? 'this project' : 'one place';
  return new Refusal('throttled', `Too many requests of ${whose} at once: try again shortly`, {
    reason: 'share',
    retryAfterSeconds: 1,
  });
}
