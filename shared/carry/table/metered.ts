import type { Budget } from './budget.ts';
import type { Table } from './table.ts';

/** Items that are counted for the price of one that is read. */
const countedTogether = 100;
/** Items whose sort keys are read for the price of one that is read whole. */
const keysTogether = 10;

/**
 * The table as one request sees it: whatever is read or written draws on the request's budget, before
 * it is done where the number is known.
 */
export function meteredTable(table: Table, budget: Budget): Table {
  return {
    budget,
    read(wanted, attributes) {
      budget.spend('items', wanted.length);
      return table.read(wanted, attributes);
    },
    async query(input) {
      budget.spend('queries', 1);
      const page = await table.query(input);
      budget.spend('items', page.items.length);
      return page;
    },
    async count(input) {
      budget.spend('queries', 1);
      const page = await table.count(input);
      // Nobody is sent them, and the table reads them by the hundred.
      budget.spend('items', page.count / countedTogether);
      return page;
    },
    async sortKeys(input) {
      budget.spend('queries', 1);
      const page = await table.sortKeys(input);
      budget.spend('items', page.sortKeys.length / keysTogether);
      return page;
    },
    transact(actions) {
      budget.spend('writes', actions.length);
      return table.transact(actions);
    },
    put(item) {
      budget.spend('writes', 1);
      return table.put(item);
    },
    putIf(item, condition) {
      budget.spend('writes', 1);
      return table.putIf(item, condition);
    },
    removeIf(key, condition) {
      budget.spend('writes', 1);
      return table.removeIf(key, condition);
    },
    write(items, removed = []) {
      budget.spend('writes', items.length + removed.length);
      return table.write(items, removed);
    },
    update(input) {
      budget.spend('writes', 1);
      return table.update(input);
    },
    updateIf(input) {
      budget.spend('writes', 1);
      return table.updateIf(input);
    },
    scan: (page) => table.scan(page),
    scanHeads: (part) => table.scanHeads(part),
  };
}
