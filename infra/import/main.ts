import { command } from '../command.ts';
import { catalogue } from './catalogue.ts';
import { connect, options, settingsOf, usage } from './connect.ts';
import { load } from './load.ts';
import { filesOf } from './read-entries.ts';
import { openReport, showProgress } from './report.ts';

/**
 * `npm run import`: loads Bundles and NDJSON of any size into a service. Ends with 1 when something was refused,
 * with 2 when it could not begin or go on.
 */
await command(usage, options, async (given) => {
  const settings = settingsOf(given);
  const files = await filesOf(settings.sources);
  const destination = await connect(settings, process.env);
  const report = await openReport(settings.refused);
  const progress = showProgress(process.stderr, report.counts);
  try {
    const all = await catalogue(settings.dataSet, files, progress.read);
    progress.begin(all.count);
    await load({ dataSet: settings.dataSet, files, all, destination, report });
  } finally {
    await report.close();
    progress.end();
  }
  process.stdout.write(progress.summary(files.length, destination, settings));
  process.exitCode = report.counts.refused > 0 ? 1 : 0;
});
