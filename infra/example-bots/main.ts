/**
 * `npm run example-bots -- <folder>`: deploys the Bots of a folder to a stack of its own, runs each once, and
 * writes the table of docs/bots.md. Without a folder, those of Medplum that lie beside this repository.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerHelp } from '../command.ts';
import { demoToken } from '../local/demo-projects.ts';
import { startStack } from '../local/stack.ts';
import { type TrialProject, tryBots, withTable } from './try-bots.ts';

answerHelp(
  'npm run example-bots -- [folder]\n  deploys the Bots of the folder, runs each once, and writes the table of docs/bots.md\n',
);
const [, , folder = fileURLToPath(new URL('../../../shared/data/example-bots', import.meta.url))] =
  process.argv;
const docs = fileURLToPath(new URL('../../docs/bots.md', import.meta.url));

const dataDir = await mkdtemp(join(tmpdir(), 'portico-example-bots-'));
const stack = await startStack({ dataDir, port: 0 });
try {
  const trials = await tryBots(folder, await trialProject());
  await writeFile(docs, withTable(await readFile(docs, 'utf8'), trials));
  for (const { file, deploys, run, remarks } of trials) {
    process.stdout.write(`${deploys ? 'deploys' : 'no'}\t${file}\t${run ?? ''}\t${remarks.join('; ')}\n`);
  }
} finally {
  await stack.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);

async function trialProject(): Promise<TrialProject> {
  const [project] = stack.demo.projects;
  if (!project) throw new Error('The demo has no Project');
  const token = await demoToken(stack.baseUrl, project);
  return { baseUrl: stack.baseUrl, projectId: project.id, token };
}
