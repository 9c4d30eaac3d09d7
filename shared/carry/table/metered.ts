import type { Budget } from './budget.ts';
import type { Table } from './table.ts';
import { ConditionFailed } from './transact.ts';

/** Items that are counted for the price of one that is read. */
const countedTogether = 100;
/** Items whose sort keys are read for the price of one that is read whole. */
const keysTogether = 10;

/**
 * The table as one request sees it: whatever is read or written draws on the request's budget, before
 * it is done where the number is known.
 */
export function meteredTable(table: Table, budget: Budget): Table {
  const writing = <T>(items: number, write: () => Promise<T>): Promise<T> => {
    budget.spend('writes', items);
    // Others were faster: nothing was written, and what the next attempt takes is for one write.
    return write().catch((error: unknown) => {
      if (error instanceof ConditionFailed) budget.giveBack('writes', items);
      throw error;
    });
  };
  const querying = async <Page>(query: () => Promise<Page>, itemsOf: (page: Page) => number) => {
    budget.spend('queries', 1);
    const page = await query();
    budget.spend('items', itemsOf(page));
    return page;
  };
  const metered: Table = {
    budget,
    read(wanted, attributes) {
      budget.spend('items', wanted.length);
      return table.read(wanted, attributes);
    },
    query: (input) =>
      querying(
        () => table.query(input),
        ({ items }) => items.length,
      ),
    // Nobody is sent them, and the table reads them by the hundred.
    count: (input) =>
      querying(
        () => table.count(input),
        ({ count }) => count / countedTogether,
      ),
    sortKeys: (input) =>
      querying(
        () => table.sortKeys(input),
        ({ sortKeys }) => sortKeys.length / keysTogether,
      ),
    transact: (actions) => writing(actions.length, () => table.transact(actions)),
    put: (item) => writing(1, () => table.put(item)),
    putIf: (item, condition) => writing(1, () => table.putIf(item, condition)),
    removeIf: (key, condition) => writing(1, () => table.removeIf(key, condition)),
    write: (items, removed = []) => writing(items.length + removed.length, () => table.write(items, removed)),
    update: (input) => writing(1, () => table.update(input)),
    updateIf: (input) => writing(1, () => table.updateIf(input)),
    scan: (page) => table.scan(page),
    scanHeads: (part) => table.scanHeads(part),
  };
  bare.set(metered, table);
  return metered;
}

/** What a table was before it drew on a budget. */
const bare = new WeakMap<Table, Table>();

/** The same table, for work that draws on another budget; one that draws on none draws on none. */
export function drawingOn(table: Table, budgetOf: (own: Budget) => Budget): Table {
  const of = bare.get(table);
  return of ? meteredTable(of, budgetOf(table.budget)) : table;
}
