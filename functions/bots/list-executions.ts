import type { Caller } from '../../shared/access/access-token.ts';
import { matchesAll } from '../../shared/search/filter.ts';
import type { Services } from '../../shared/services.ts';
import { inBatches } from '../../shared/store/candidates.ts';
import { readCursor, sortKeyBetween, writeCursor } from '../../shared/store/cursor.ts';
import { readHeads } from '../../shared/store/heads.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { type Positioned, takePage } from '../../shared/store/page.ts';
import { recordWithoutLog, runLists } from '../../shared/store/run-lists.ts';
import { idAtEnd, readTimed } from '../../shared/store/timed-list.ts';
import { admitToBot } from './admit-to-bot.ts';
import { executionParameter } from './execution-parameter.ts';
import { nextParameter, type Parameter, type Parameters } from './parameters.ts';
import { parseExecutions, type WantedExecutions } from './parse-executions.ts';

/**
 * A Bot's runs with their logs, newest first. A run is there as soon as it was answered.
 * @param query `outcome`, `date`, `requester`, `trace`, `_count`, `_cursor`
 * @throws {Refusal} not-found, invalid
 */
export async function listExecutions(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  await admitToBot(services, caller, botId);
  const path = `Bot/${botId}/$logs`;
  const wanted = parseExecutions(query);
  const { bounds, count, cursor, canonical } = wanted;
  const listing = { project, name: `${path}?${canonical}` };
  const after = readCursor(listing, cursor, sortKeyBetween(bounds.from ?? '0', `${bounds.to ?? ''}~`));
  const { values, next } = await takePage(executions(services, { project, botId }, wanted, after), {
    count,
    sizeOf: (execution) => Buffer.byteLength(JSON.stringify(execution)),
  });
  return {
    resourceType: 'Parameters',
    parameter: [
      ...values,
      ...nextParameter(services.baseUrl, path, query, next && writeCursor(listing, next)),
    ],
  };
}

/** Every record as it is passed on the way; without a value where it is not wanted. */
async function* executions(
  { table }: Services,
  { project, botId }: { project: string; botId: string },
  { filters, bounds, count }: WantedExecutions,
  after: string | undefined,
): AsyncGenerator<Positioned<Parameter, string>> {
  const isNarrowed = filters.some(({ parameters: [parameter] }) => parameter?.code !== 'date');
  const records = readTimed(table, runLists(project, botId), {
    ...bounds,
    ...{ newestFirst: true, after, most: count + 1 },
    // Logs are read with the record only when every record is wanted.
    ...(isNarrowed ? { attributes: recordWithoutLog } : {}),
  });
  for await (const some of inBatches(records, () => count + 1)) {
    const wanted = some.filter((item) => {
      const event = inlineResource('AuditEvent', item.content === undefined ? undefined : item);
      return !event || matchesAll(event, filters);
    });
    // Those of earlier releases are only listed here, and lie elsewhere.
    const elsewhere = wanted.filter(({ content }) => isNarrowed || content === undefined);
    const heads = await readHeads(
      { table, project },
      'AuditEvent',
      elsewhere.map(({ sk }) => idAtEnd(sk)),
    );
    for (const item of some) {
      const isWanted = wanted.includes(item);
      const record = isWanted ? (heads.get(idAtEnd(item.sk)) ?? item) : undefined;
      const event = record?.content === undefined ? undefined : inlineResource('AuditEvent', record);
      const isHit = record && event && matchesAll(event, filters);
      yield { position: item.sk, value: isHit ? executionParameter(event, record) : undefined };
    }
  }
}
