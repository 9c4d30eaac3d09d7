import { listRuns } from '../../shared/audit/run-index.ts';
import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { readCursor, writeCursor } from '../../shared/search/cursor.ts';
import { matchesAll } from '../../shared/search/filter.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import { executionParameter } from './execution-parameter.ts';
import { botKeyOf, requireBot } from './move-bot.ts';
import { nextParameter, type Parameter, type Parameters } from './parameters.ts';
import { parseExecutions } from './parse-executions.ts';

/** One page reads no more records than this: it then ends early, and the next goes on from there. */
const mostReads = 500;
/** What a page may hold as text; an answer holds more, and not much. */
const mostBytes = 3_500_000;

/**
 * A Bot's runs with their logs, newest first. A run is there as soon as the table's stream has been
 * read, which takes a moment.
 * @param query `outcome`, `date`, `requester`, `_count`, `_cursor`
 * @throws {Refusal} forbidden, not-found, invalid
 */
export async function listExecutions(
  services: Services,
  caller: Caller,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  const botKey = botKeyOf(project, botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  requireBot(actor, found.get(botKey));
  const path = `Bot/${botId}/$logs`;
  const { filters, bounds, count, cursor, canonical } = parseExecutions(query);
  const binding = `${path}?${canonical}`;
  const after = cursor === undefined ? undefined : readCursor(project, binding, cursor);
  const runs = listRuns(services.table, { project, botId, ...bounds, after, limit: count });

  const shown: Parameter[] = [];
  let read = 0;
  let bytes = 0;
  let last: string | undefined;
  let isCut = false;
  for await (const some of inBatches(runs, count)) {
    const heads = await services.table.read(some.map(({ id }) => keys.resource(project, 'AuditEvent', id)));
    read += some.length;
    for (const { id, position } of some) {
      const item = heads.get(keys.resource(project, 'AuditEvent', id));
      const event = resourceOf(item);
      if (item && event && matchesAll(event, filters)) {
        const execution = executionParameter(event, item);
        bytes += Buffer.byteLength(JSON.stringify(execution));
        isCut = shown.length === count || (bytes > mostBytes && shown.length > 0);
        if (isCut) break;
        shown.push(execution);
      }
      last = position;
    }
    isCut ||= read >= mostReads;
    if (isCut) break;
  }
  const following = isCut && last !== undefined ? writeCursor(project, binding, last) : undefined;
  return {
    resourceType: 'Parameters',
    parameter: [...shown, ...nextParameter(services.baseUrl, path, query, following)],
  };
}

async function* inBatches<T>(all: AsyncGenerator<T>, size: number): AsyncGenerator<T[]> {
  let some: T[] = [];
  for await (const one of all) {
    some.push(one);
    if (some.length < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
