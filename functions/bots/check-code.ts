import { deflateRawSync } from 'node:zlib';
import { longestCodeBytes } from '../../shared/bot/bot-item.ts';
import type { BotCode, RunRequest } from '../../shared/bot/contract.ts';
import type { InvokerServices } from '../../shared/bot/execute-services.ts';
import { traceBack } from '../../shared/bot/source-map.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { compileRefusal } from './transpile.ts';

const checkMs = 5_000;

interface Check {
  project: string;
  botId: string;
  code: BotCode;
  map: string | undefined;
  traceId: string;
}

/** @throws {Refusal} too-large */
export function requireSize({ text }: BotCode): void {
  if (deflateRawSync(text).length <= longestCodeBytes) return;
  throw new Refusal('too-large', `The code is longer than ${longestCodeBytes / 1024} KB compressed`);
}

/**
 * The sandbox compiles and evaluates the code as it will at every run, and looks for the handler.
 * @throws {Refusal} invalid, with line and column where there are any; unavailable
 */
export async function checkCode(services: InvokerServices, check: Check): Promise<void> {
  const { code, map } = check;
  const invoked = await services.invoker.invoke(requestOf(services, check));
  if (invoked.kind !== 'result') {
    throw new Refusal('unavailable', 'The code could not be checked', {
      reason: invoked.kind,
      retryAfterSeconds: 1,
    });
  }
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned') return;
  if (outcome.kind !== 'not-compiled') throw invalidField('code', outcome.message);
  const { message, line, column = 1 } = outcome;
  if (map === undefined || line === undefined) throw compileRefusal(message, line, outcome.column);
  const place = traceBack(map)(`${code.filename}:${line}:${column}`, code.filename);
  const [itsColumn, itsLine] = place.split(':').reverse();
  throw compileRefusal(message, Number(itsLine), Number(itsColumn));
}

function requestOf(services: InvokerServices, { project, botId, code, traceId }: Check): RunRequest {
  return {
    kind: 'check',
    runId: services.newId(),
    project,
    code,
    input: { kind: 'none' },
    event: {
      bot: { reference: `Bot/${botId}` },
      requester: { reference: 'system' },
      headers: {},
      secrets: {},
      traceId,
    },
    limits: { timeoutMs: checkMs, memoryMb: 128, resultBytes: 1024, logBytes: 1024 },
    deadlineAtMs: services.now() + checkMs * 2,
  };
}
