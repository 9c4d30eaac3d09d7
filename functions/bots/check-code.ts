import { deflateRawSync } from 'node:zlib';
import { longestCodeBytes } from '../../shared/bot/bot-item.ts';
import { callsOf } from '../../shared/bot/bounds/run-tree.ts';
import type { BotCode, RunOutcome, RunRequest } from '../../shared/bot/contract.ts';
import type { InvokerServices } from '../../shared/bot/execute-services.ts';
import { originOf, type Place } from '../../shared/bot/places.ts';
import { Refusal } from '../../shared/refusal.ts';
import { type CompiledCode, codeRefusal, unchecked } from './compile-code.ts';

const checkMs = 5_000;

interface Check extends CompiledCode {
  project: string;
  botId: string;
  traceId: string;
}

/** @throws {Refusal} too-large */
export function requireSize({ text }: BotCode): void {
  if (deflateRawSync(text).length <= longestCodeBytes) return;
  throw new Refusal('too-large', `The code is longer than ${longestCodeBytes / 1024} KB compressed`);
}

/**
 * The sandbox compiles and evaluates the code as it will at every run, and looks for the handler.
 * @throws {Refusal} invalid, with line and column unless a limit was met; unavailable, not-started
 */
export async function checkCode(services: InvokerServices, check: Check): Promise<void> {
  const invoked = await services.invoker.invoke(requestOf(services, check));
  if (invoked.kind !== 'result') throw unchecked(invoked.kind);
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned') return;
  const place = placeOf(outcome, check.code.filename);
  throw codeRefusal(outcome.message, place && check.places ? originOf(check.places, place) : place);
}

function placeOf(outcome: RunOutcome, filename: string): Place | undefined {
  switch (outcome.kind) {
    case 'not-compiled':
      return { line: outcome.line ?? 1, column: outcome.column ?? 1 };
    case 'threw': {
      const frames = (outcome.stack ?? '').matchAll(/([\w.-]+):(\d{1,9}):(\d{1,9})/g);
      const own = [...frames].find(([, file]) => file === filename);
      return { line: Number(own?.[2] ?? 1), column: Number(own?.[3] ?? 1) };
    }
    case 'no-handler':
      return { line: 1, column: 1 };
    default:
      return undefined;
  }
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
    limits: {
      timeoutMs: checkMs,
      memoryMb: 128,
      resultBytes: 1024,
      logBytes: 1024,
      calls: callsOf(undefined),
    },
    deadlineAtMs: services.now() + checkMs * 2,
  };
}
