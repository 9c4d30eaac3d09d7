import { parseArgs } from 'node:util';
import type { ReindexProgress } from '../../shared/store/items/reindex.ts';
import { command, flag, text } from '../command.ts';
import { reindexName } from '../stage.ts';
import { deployedFunctions } from './deployed.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run reindex`: gives stored resources the index items of new search parameters; on this machine,
 * or with `--stage` in the account that the credentials name. May be stopped and run again.
 */
const usage = 'npm run reindex -- [--again] [--stage <stage>]\n';
type Run = (event: { again: boolean }) => Promise<ReindexProgress>;

async function untilDone(run: Run, again: boolean): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const progress = await run({ again: again && isFirst });
    process.stdout.write(`${JSON.stringify(progress)}\n`);
    if (progress.done) return;
  }
}

await command(usage, 1, async () => {
  const { values } = parseArgs({ options: { again: flag, stage: text } });
  const again = values.again === true;
  if (values.stage !== undefined) {
    const invoke = deployedFunctions(values.stage);
    await untilDone((event) => invoke(reindexName, event), again);
  } else {
    await withStack(settings(process.env), async () => untilDone(await handlerLoader()('reindex'), again));
  }
  process.exit(0);
});
