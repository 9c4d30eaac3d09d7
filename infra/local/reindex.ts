import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Progress } from '../../functions/reindex/reindex.ts';
import { errorText } from '../../shared/error-name.ts';
import { answerHelp } from '../answer-help.ts';
import { projectContext } from '../context.ts';
import { readStage, reindexName } from '../stage.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run reindex`: gives stored resources the index items of new search parameters; on this machine,
 * or with `--stage` in the account that the credentials name. May be stopped and run again.
 */
const usage = 'npm run reindex -- [--again] [--stage <stage>]\n';
answerHelp(usage);

type Run = (event: { again: boolean }) => Promise<Progress>;

async function untilDone(run: Run, again: boolean): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const progress = await run({ again: again && isFirst });
    process.stdout.write(`${JSON.stringify(progress)}\n`);
    if (progress.done) return;
  }
}

function deployed(stageName: string): Run {
  const context: Record<string, unknown> = { ...projectContext(), stage: stageName };
  const stage = readStage((key) => context[key]);
  const lambda = new LambdaClient({
    region: stage.region,
    maxAttempts: 1,
    requestHandler: { requestTimeout: 600_000 },
  });
  return async (event) => {
    const { Payload, FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: reindexName(stage), Payload: JSON.stringify(event) }),
    );
    const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as Progress & {
      errorMessage?: string;
    };
    if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
    return result;
  };
}

try {
  const { values } = parseArgs({ options: { again: { type: 'boolean' }, stage: { type: 'string' } } });
  const again = values.again === true;
  if (values.stage !== undefined) await untilDone(deployed(values.stage), again);
  else {
    await withStack(settings(process.env), async () => untilDone(await handlerLoader()('reindex'), again));
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exit(1);
}
