import { randomInt } from 'node:crypto';
import { Refusal } from '../../base/refusal.ts';
import { recordOf, typedKeys } from '../../base/values.ts';

/** What requests spend, with the units that one of each costs: a unit is some 80 µs of CPU, measured by test/worst. */
const prices = {
  /** Items read by their keys, or found by a query. */
  items: 1,
  queries: 10,
  /** Items written or removed. */
  writes: 1,
  /** Changes of a batch, each a transaction of its own. */
  commits: 15,
  /** Bytes of stored resources, as JSON texts, that are opened. */
  bytes: 1 / 2000,
  /** Values compared with what a search, or a rule of a policy, asks for. */
  comparisons: 1 / 400,
};

/** So many bytes of a resource, as JSON text, cost as much as one value that is compared. */
export const bytesPerValue = 50;

/**
 * What one step costs at most on a budget that is not told. To read items, however few, costs as much; to open what is large
 * costs more, for how long that takes tells of it anyway.
 */
const mostUntoldUnits = 3;
const mostUntoldBytesUnits = 100;

type Cost = keyof typeof prices;
const nothing = recordOf(typedKeys(prices), () => 0);

/** What one request may cost in all, its Bundle's entries together. */
const requestUnits = 10_000;

const texts: Record<Cost, string> = {
  items: 'it reads too many items: narrow the search, lower _count or send fewer entries',
  queries: 'it needs too many look-ups: use fewer conditions, alternatives, chains or entries',
  writes: 'it writes too many items: send fewer entries, or resources with fewer indexed values',
  commits: 'it writes too often: send fewer entries, or a transaction in the place of a batch',
  bytes: 'it looks through too much content: narrow the search, lower _count or send fewer entries',
  comparisons: 'it compares too many values: use fewer conditions, alternatives or rules',
};

/**
 * What one request may take of the CPU: the last bound, for work that no price tells. Where the price is right, a request
 * that costs all its units takes a fifth of it.
 */
export const requestCpuMs = 5000;
/** The clock is not asked more often. */
const askedEveryMs = 10;

/** The requests that this thread serves. */
const served = new Set<{ isAlone: boolean }>();

/**
 * Measures what a request takes of the CPU of its thread. Lambda gives an environment one request at a time; where a laptop
 * gives it several at once, nothing is measured of any.
 */
export function startCpuClock(): { cpuMs(): number; stop(): void } {
  const own = { isAlone: served.size === 0 };
  served.add(own);
  if (!own.isAlone) for (const one of served) one.isAlone = false;
  const from = process.threadCpuUsage();
  return {
    cpuMs() {
      const { user, system } = process.threadCpuUsage(from);
      return own.isAlone ? (user + system) / 1000 : 0;
    },
    stop: () => void served.delete(own),
  };
}

/** What is left of what a request may cost. Whatever works for a request draws on the same one. */
export interface Budget {
  /** @throws {Refusal} too-costly, saying what to change; nothing of `amount` has been done then */
  spend(cost: Cost, amount: number): void;
  /** Takes back what was spent for nothing. */
  giveBack(cost: Cost, amount: number): void;
  /** Refuses like `spend`, and spends nothing: before work of several steps. @throws {Refusal} too-costly */
  require(cost: Cost, amount: number): void;
  /** Gives it so many units in all, unless it had more from the beginning. */
  raiseTo(units: number): void;
  /**
   * Gives it up to half as much again, by chance and once: for whoever may not see all that their request looks at. That it
   * is refused tells nothing exact of the rest.
   */
  blur(): void;
  /**
   * A budget for work of which the caller is not to learn how much it was, such as one search: as much as a request has, more
   * or less by chance. What is spent of it costs the request no units; how long it takes counts. No one step costs more than a
   * little: else a few requests would tell the size of what is hidden.
   */
  untold(): Budget;
  /** For one look of several steps: where what it costs is not told, it costs no more units than these, a step's if left out. */
  asOne(most?: number): Budget;
  /** What all that was spent cost. */
  readonly units: number;
  /** How many of each were spent. */
  readonly spent: Readonly<Record<Cost, number>>;
}

/** @param cpuMs what the request has taken of the CPU so far */
export function newBudget(units: number = requestUnits, cpuMs: () => number = () => 0): Budget {
  let total = units;
  let left = units;
  let more = 0;
  const spent = { ...nothing };
  let askedAt = performance.now();
  let isLate = false;
  const requireTime = () => {
    const now = performance.now();
    if (!isLate && now - askedAt < askedEveryMs) return;
    askedAt = now;
    // Once it is over nothing begins any more, of a batch no other entry either.
    isLate ||= cpuMs() > requestCpuMs;
    if (!isLate) return;
    const text = 'The request costs too much: it takes too long to compute, send less at once';
    throw new Refusal('too-costly', text);
  };
  const requireWithin = (most: number, cost: Cost, amount: number) => {
    requireTime();
    if (prices[cost] * amount <= most) return;
    throw new Refusal('too-costly', `The request costs too much: ${texts[cost]}`);
  };
  const require = (cost: Cost, amount: number) => requireWithin(left, cost, amount);
  const budget: Budget = {
    spent,
    get units() {
      return typedKeys(spent).reduce((sum, cost) => sum + prices[cost] * spent[cost], 0);
    },
    require,
    giveBack(cost, amount) {
      left += prices[cost] * amount;
      spent[cost] -= amount;
    },
    raiseTo(least) {
      left += Math.max(0, least - total) * (1 + more);
      total = Math.max(total, least);
    },
    blur() {
      if (more > 0) return;
      more = byChance(1) - 3 / 4;
      left += total * more;
    },
    untold() {
      let own = byChance(units);
      const unitsOf = (cost: Cost, amount: number) => {
        if (cost === 'items') return mostUntoldUnits;
        return Math.min(prices[cost] * amount, cost === 'bytes' ? mostUntoldBytesUnits : mostUntoldUnits);
      };
      const requireOwn = (cost: Cost, amount: number) => {
        // What a whole request may not cost one step may not either: the clock is not asked within it.
        requireWithin(units, cost, amount);
        requireWithin(own, cost, unitsOf(cost, amount) / prices[cost]);
      };
      const untold: Budget = {
        ...budget,
        get units() {
          return budget.units;
        },
        require: requireOwn,
        spend(cost, amount) {
          requireOwn(cost, amount);
          own -= unitsOf(cost, amount);
        },
        asOne(most = mostUntoldUnits) {
          let left = most;
          const spend: Budget['spend'] = (cost, amount) => {
            requireOwn(cost, amount);
            const some = Math.min(unitsOf(cost, amount), left);
            own -= some;
            left -= some;
          };
          return { ...untold, spend };
        },
      };
      return untold;
    },
    asOne: () => budget,
    spend(cost, amount) {
      require(cost, amount);
      left -= prices[cost] * amount;
      spent[cost] += amount;
    },
  };
  return budget;
}

/**
 * As much, more or less by chance: up to a quarter, by a Laplace distribution with a sixteenth as its scale. A bound on what is
 * hidden that is drawn anew each time tells one record more in the square of its scale of requests, and nowhere sooner (C. Dwork and
 * others, Calibrating Noise to Sensitivity in Private Data Analysis, 2006); with an exact one, or a chance that ends
 * abruptly, those who come up to it with records of their own read what is hidden letter by letter.
 */
export function byChance(amount: number): number {
  for (;;) {
    const distance = -Math.log(randomInt(1, 2 ** 40) / 2 ** 40) / 16;
    if (distance < 1 / 4) return amount * (1 + (randomInt(2) === 0 ? distance : -distance));
  }
}

/** For functions that work for no request. */
export function unlimitedBudget(): Budget {
  return newBudget(Number.POSITIVE_INFINITY);
}
