import { join, resolve } from 'node:path';
import { errorCode } from '../../shared/base/values.ts';
import { command, text } from '../command.ts';
import { settings } from './environment.ts';
import { startStack } from './stack.ts';

/** `npm start`; with `-- --from cdk.out` the bundles that `npm run synth` has put there run, and not the sources. */
const usage = 'npm start -- [--from cdk.out]\n';
await command(usage, { failed: 2, options: { from: text } }, async ({ values: { from } }) => {
  const given = { ...settings(), from: from === undefined ? undefined : resolve(from) };
  const stack = await startStack(given).catch((error: Error) => {
    const hint =
      errorCode(error) === 'EADDRINUSE' ? '\nSet PORT (and PORTICO_DATA_DIR) to run a second one.' : '';
    process.stderr.write(`${error.message}${hint}\n`);
    process.exit(1);
  });

  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      if (isStopping) return;
      isStopping = true;
      await stack.stop();
      process.exit(0);
    });
  }

  // Builds the app while nobody waits for it; the request that needs it says what went wrong.
  void fetch(stack.demo.appUrl).catch(() => undefined);

  const [project] = stack.demo.projects;
  process.stdout.write(`Portico listens on ${stack.baseUrl}
App:     ${stack.demo.appUrl}
Mailbox: ${stack.baseUrl}/local/mail
Two Projects, their API keys and administrators: ${join(given.dataDir, 'demo.json')}
A first call:
  curl -s ${stack.baseUrl}/oauth2/token -d grant_type=client_credentials -d client_id=${project?.clientId} -d client_secret=${project?.clientSecret}
Ctrl-C stops everything.
`);
});
