import type { ReindexProgress } from '../../shared/store/items/reindex.ts';
import { command, flag, text } from '../command.ts';
import { withFunctions } from './deployed.ts';

/**
 * `npm run reindex`: gives stored resources the index items of new search parameters; on this machine,
 * or with `--stage` in the account that the credentials name. May be stopped and run again.
 */
const usage = 'npm run reindex -- [--again] [--stage <stage>]\n';

const options = { again: { ...flag, default: false }, stage: text };
await command(usage, { failed: 1, options }, async ({ values: { again, stage } }) => {
  await withFunctions(stage, async (invoke) => {
    let progress: ReindexProgress | undefined;
    while (!progress?.done) {
      progress = await invoke<ReindexProgress>('reindex', { again: again && progress === undefined });
      process.stdout.write(`${JSON.stringify(progress)}\n`);
    }
  });
  process.exit(0);
});
