import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Progress } from '../../functions/reindex/reindex.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run reindex`: gives stored resources the index items of new search parameters; on this machine,
 * or with `--function` in the account that the credentials name. May be stopped and run again.
 */
const usage = 'npm run reindex -- [--again] [--function <deployed function>]\n';

type Run = (event: { again: boolean }) => Promise<Progress>;

async function untilDone(run: Run, again: boolean): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const progress = await run({ again: again && isFirst });
    process.stdout.write(`${JSON.stringify(progress)}\n`);
    if (progress.done) return;
  }
}

function deployed(functionName: string): Run {
  const lambda = new LambdaClient({ maxAttempts: 1, requestHandler: { requestTimeout: 600_000 } });
  return async (event) => {
    const { Payload, FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }),
    );
    const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as Progress & {
      errorMessage?: string;
    };
    if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
    return result;
  };
}

try {
  const { values } = parseArgs({ options: { again: { type: 'boolean' }, function: { type: 'string' } } });
  const again = values.again === true;
  if (values.function) await untilDone(deployed(values.function), again);
  else {
    await withStack(settings(process.env), async () => untilDone(await handlerLoader()('reindex'), again));
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${usage}`);
  process.exit(1);
}
