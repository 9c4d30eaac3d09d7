import type { RunRequest, RunResult } from '../../shared/bots/run/contract.ts';
import { type DeployServices, type ExecuteServices, emptyBotMemory } from '../../shared/bots/run/services.ts';
import { fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import { ringOf } from '../../test/setup/key-rings.ts';
import type { Stage } from '../../test/storage/stage.ts';

/** A stage whose Bots answer at once, without a sandbox: what is counted is what DynamoDB is asked. */
export function countedServices({ services }: Stage): ExecuteServices & DeployServices {
  const keys = fileDataKeys(Buffer.alloc(32, 2));
  return {
    ...services,
    runTokenKeys: ringOf(Buffer.alloc(32, 1)),
    dataKeys: async () => keys,
    botMemory: emptyBotMemory(),
    jobs: { start: async () => 'started' },
    invoker: {
      compile: async ({ source }) => ({
        kind: 'result',
        result: { kind: 'compiled', format: 'cjs', text: source },
      }),
      invoke: async (run) => ({ kind: 'result', result: resultOf(run) }),
    },
  };
}

function resultOf({ input }: RunRequest): RunResult {
  const value = { type: 'string', text: input.text ?? '' } as const;
  return { outcome: { kind: 'returned', value }, log: [], logTruncated: false, durationMs: 1 };
}
