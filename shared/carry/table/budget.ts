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
  /** Characters of stored resources that are opened. */
  characters: 1 / 2000,
  /** Values compared with what a search, or a rule of a policy, asks for. */
  comparisons: 1 / 400,
};

type Cost = keyof typeof prices;
const nothing = recordOf(typedKeys(prices), () => 0);

/** What one request may cost in all, its Bundle's entries together. */
const requestUnits = 10_000;

const texts: Record<Cost, string> = {
  items: 'it reads too many items: narrow the search, lower _count or send fewer entries',
  queries: 'it needs too many look-ups: use fewer conditions, alternatives, chains or entries',
  writes: 'it writes too many items: send fewer entries, or resources with fewer indexed values',
  commits: 'it writes too often: send fewer entries, or a transaction in the place of a batch',
  characters: 'it looks through too much content: narrow the search, lower _count or send fewer entries',
  comparisons: 'it compares too many values: use fewer conditions, alternatives or rules',
};

/** What is left of what a request may cost. Whatever works for a request draws on the same one. */
export interface Budget {
  /** @throws {Refusal} too-costly, saying what to change; nothing of `amount` has been done then */
  spend(cost: Cost, amount: number): void;
  /** Refuses like `spend`, and spends nothing: before work of several steps. @throws {Refusal} too-costly */
  require(cost: Cost, amount: number): void;
  /** Gives it so many units in all, unless it had more from the beginning. */
  raiseTo(units: number): void;
  /** What all that was spent cost. */
  readonly units: number;
  /** How many of each were spent. */
  readonly spent: Readonly<Record<Cost, number>>;
}

export function newBudget(units: number = requestUnits): Budget {
  let total = units;
  let left = units;
  const spent = { ...nothing };
  const require = (cost: Cost, amount: number) => {
    if (prices[cost] * amount <= left) return;
    throw new Refusal('too-costly', `The request costs too much: ${texts[cost]}`);
  };
  return {
    spent,
    get units() {
      return typedKeys(spent).reduce((sum, cost) => sum + prices[cost] * spent[cost], 0);
    },
    require,
    raiseTo(least) {
      left += Math.max(0, least - total);
      total = Math.max(total, least);
    },
    spend(cost, amount) {
      require(cost, amount);
      left -= prices[cost] * amount;
      spent[cost] += amount;
    },
  };
}

/** For functions that work for no request. */
export function unlimitedBudget(): Budget {
  return newBudget(Number.POSITIVE_INFINITY);
}
