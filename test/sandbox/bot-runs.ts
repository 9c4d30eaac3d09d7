import type { RunInput, RunOutcome, RunRequest, RunResult } from '../../shared/bots/run/contract.ts';

/** What a test says about a run; the rest is as a small honest one. */
export interface RunChanges {
  kind?: RunRequest['kind'];
  project?: string;
  format?: 'esm' | 'cjs';
  filename?: string;
  input?: RunInput;
  event?: Partial<RunRequest['event']>;
  limits?: Partial<RunRequest['limits']>;
  deadlineAtMs?: number;
  api?: { baseUrl: string; token: string };
}

/** A request for the Bot `text`, an ES module unless told. */
export function runOf(text: string, changes: RunChanges = {}): RunRequest {
  return {
    kind: changes.kind ?? 'run',
    runId: 'run-1',
    project: changes.project ?? 'project-a',
    code: {
      version: '0'.repeat(64),
      format: changes.format ?? 'esm',
      filename: changes.filename ?? 'bot.js',
      text,
    },
    input: changes.input ?? { kind: 'none' },
    event: {
      bot: { reference: 'Bot/b1', display: 'Test' },
      requester: { reference: 'Practitioner/p1' },
      headers: { accept: '*/*' },
      secrets: {},
      traceId: 'trace-1',
      ...changes.event,
    },
    limits: {
      timeoutMs: 15_000,
      memoryMb: 64,
      resultBytes: 1_000_000,
      logBytes: 50_000,
      calls: 1000,
      ...changes.limits,
    },
    deadlineAtMs: changes.deadlineAtMs ?? Date.now() + 20_000,
    ...(changes.api && { api: changes.api }),
  };
}

/** The body of an async handler as a whole Bot. */
export function bot(body: string): string {
  return `export async function handler(medplum, event) { ${body} }`;
}

/** The value that a run returned; fails with the outcome when it did not. */
export function returned({ outcome }: RunResult): unknown {
  if (outcome.kind !== 'returned') {
    throw new Error(JSON.stringify(outcome));
  }
  const { value } = outcome;
  if (value.type === 'undefined') {
    return undefined;
  }
  return value.type === 'json' ? JSON.parse(value.text) : value.text;
}

/** An outcome in one word for tables: `returned`, `threw`, `limit time` … */
export function word(outcome: RunOutcome): string {
  return outcome.kind === 'limit' ? `limit ${outcome.limit}` : outcome.kind;
}
