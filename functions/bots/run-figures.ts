import type { Caller } from '../../shared/access/access-token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { recordWithoutLog, runRecordLists } from '../../shared/store/run-lists.ts';
import { readTimed } from '../../shared/store/timed-list.ts';
import { admitToBot } from './admit-to-bot.ts';
import type { Parameters } from './parameters.ts';

const dayMs = 86_400_000;
/** Of a Bot that runs more often the newest are counted. */
const mostRuns = 1_000;

/**
 * How a Bot has done in the last 24 hours: `runs` and, of these, `failed`, `p50Ms`, `p95Ms`; `since` is an
 * instant. Of more than 1,000 runs it counts the newest, and `complete` is false.
 * @throws {Refusal} not-found, invalid
 */
export async function runFigures(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  await admitToBot(services, caller, botId);
  for (const name of query.keys()) throw invalidField(name, `Unknown parameter ${name} of $figures`);
  const dayAgo = new Date(services.now() - dayMs).toISOString();
  const reading = { newestFirst: true, from: dayAgo, most: mostRuns, attributes: recordWithoutLog };
  let failed = 0;
  let since = dayAgo;
  let isComplete = true;
  const durations: number[] = [];
  for await (const item of readTimed(services.table, runRecordLists(project, botId), reading)) {
    if (durations.length === mostRuns) {
      isComplete = false;
      break;
    }
    const run = inlineResource('AuditEvent', item);
    const durationMs = run && durationOf(run);
    if (durationMs === undefined) continue;
    durations.push(durationMs);
    if (run?.outcome !== '0') failed += 1;
    since = String(run?.recorded);
  }
  durations.sort((a, b) => a - b);
  const at = (share: number) => durations[Math.max(0, Math.ceil(share * durations.length) - 1)];
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'since', valueInstant: isComplete ? dayAgo : since },
      { name: 'complete', valueBoolean: isComplete },
      { name: 'runs', valueInteger: durations.length },
      { name: 'failed', valueInteger: failed },
      ...[0.5, 0.95].flatMap((share) => {
        const ms = at(share);
        return ms === undefined ? [] : [{ name: `p${share * 100}Ms`, valueInteger: Math.round(ms) }];
      }),
    ],
  };
}

/** Undefined for what did not run: a schedule that stopped, a run too deep. */
function durationOf({ entity }: Resource): number | undefined {
  const details = (entity as { detail?: { type: string; valueString: string }[] }[])[0]?.detail ?? [];
  const text = details.find(({ type }) => type === 'durationMs')?.valueString;
  return text === undefined ? undefined : Number(text);
}
