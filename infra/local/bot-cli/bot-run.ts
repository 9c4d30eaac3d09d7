import { randomUUID } from 'node:crypto';
import { callsOf } from '../../../shared/bot/bounds/run-tree.ts';
import type { BotSecret, RunRequest, RunResult } from '../../../shared/bot/contract.ts';
import { longestBodyBytes, longestLogBytes } from '../../../shared/limits.ts';
import { createSandbox } from '../../../shared/sandbox/supervisor.ts';
import { cachedGuest } from '../../guest/build.ts';
import type { BotFiles } from './bot-input.ts';
import type { BotService } from './bot-service.ts';

export interface LocalRun extends BotFiles {
  timeoutMs: number;
  memoryMb: number;
  secrets: Record<string, BotSecret>;
  /** Without one, every use of `medplum` throws. */
  service: BotService | undefined;
}

/** One run in the sandbox of the service: same isolate, same limits, same rules for `fetch`. */
export async function runBotHere(run: LocalRun): Promise<RunResult> {
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  try {
    return await sandbox.run(requestOf(run));
  } finally {
    await sandbox.close();
  }
}

function requestOf({
  code,
  input,
  contentType,
  headers = {},
  timeoutMs,
  memoryMb,
  secrets,
  service,
}: LocalRun): RunRequest {
  return {
    kind: 'run',
    runId: randomUUID(),
    project: 'local',
    code,
    input,
    event: {
      bot: { reference: 'Bot/local', display: code.filename },
      ...(contentType === undefined ? {} : { contentType }),
      requester: { reference: 'Practitioner/local' },
      headers: { ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
      secrets,
      traceId: randomUUID(),
    },
    limits: {
      timeoutMs,
      memoryMb,
      resultBytes: longestBodyBytes,
      logBytes: longestLogBytes,
      calls: callsOf(undefined),
    },
    deadlineAtMs: Date.now() + timeoutMs + 1000,
    ...(service ? { api: service } : {}),
  };
}
