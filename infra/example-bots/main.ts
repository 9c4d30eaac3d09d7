/**
 * `npm run example-bots -- <folder>`: deploys the Bots of a folder to a stack of its own, runs each once, and
 * writes the table of docs/bots.md. Without a folder, those of Medplum that lie beside this repository.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { answerHelp } from '../command.ts';
import { withDemoStack } from '../local/demo-stack.ts';
import { tryBots, withTable } from './try-bots.ts';

answerHelp(
  'npm run example-bots -- [folder]\n  deploys the Bots of the folder, runs each once, and writes the table of docs/bots.md\n',
);
const [, , folder = fileURLToPath(new URL('../../../shared/data/example-bots', import.meta.url))] =
  process.argv;
const docs = fileURLToPath(new URL('../../docs/bots.md', import.meta.url));

await withDemoStack('example-bots', async ({ baseUrl, project, token }) => {
  const trials = await tryBots(folder, { baseUrl, projectId: project.id, token });
  await writeFile(docs, withTable(await readFile(docs, 'utf8'), trials));
  for (const { file, deploys, run, remarks } of trials) {
    process.stdout.write(`${deploys ? 'deploys' : 'no'}\t${file}\t${run ?? ''}\t${remarks.join('; ')}\n`);
  }
});
process.exit(0);
