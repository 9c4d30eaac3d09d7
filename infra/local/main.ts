import { resolve } from 'node:path';
import { startStack } from './stack.ts';

const port = Number(process.env.PORT ?? 8787);
const dataDir = resolve(process.env.PORTICO_DATA_DIR ?? '.data');

const stack = await startStack({ dataDir, port }).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
const [project] = stack.demo.projects;
process.stdout.write(`Portico listens on ${stack.baseUrl}
Two Projects with their API keys and administrators: ${dataDir}/demo.json
A first call:
  curl -s ${stack.baseUrl}/oauth2/token -d grant_type=client_credentials -d client_id=${project?.clientId} -d client_secret=${project?.clientSecret}
Ctrl-C stops everything.
`);

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void stack.stop().then(() => process.exit(0));
  });
}
