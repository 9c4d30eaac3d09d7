import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nameOf, rowsOf, type Trial, tryBots } from '../../infra/example-bots/try-bots.ts';
import { describeUnless } from '../setup/left-out.ts';
import { type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';

const folder = resolve(import.meta.dirname, '../../../shared/data/example-bots');
// The samples are not part of the repository.
const missing = existsSync(folder) ? undefined : `${folder} is not there`;

describeUnless(missing, 'example Bots of others', () => {
  let portico: Portico;
  let trials: Trial[];
  let rows: ReturnType<typeof rowsOf>;

  beforeAll(async () => {
    portico = await startPortico();
    const project = {
      baseUrl: portico.baseUrl,
      projectId: projectOf(portico, 0).id,
      token: await portico.token(),
    };
    trials = await tryBots(folder, project);
    rows = rowsOf(await readFile(resolve(import.meta.dirname, '../../docs/bots.md'), 'utf8'));
  }, 300_000);
  afterAll(() => portico.stop());

  test('all deploy but those that speak SFTP', () => {
    const refused = trials.filter(({ deploys }) => !deploys);
    expect(refused.map(({ remarks }) => remarks.join())).toEqual(
      refused.map(() => expect.stringMatching(/^Cannot import 'ssh2-sftp-client'/)),
    );
    expect(trials.length - refused.length).toBeGreaterThan(refused.length * 9);
  });

  test('are as the table of docs/bots.md says: npm run example-bots makes it', () => {
    expect(trials.map(({ file }) => nameOf(file)).sort()).toEqual([...rows.keys()].sort());
    for (const { file, deploys, run } of trials) {
      const row = rows.get(nameOf(file));
      expect([file, deploys, run === 'returned']).toEqual([file, row?.deploys, row?.run === 'returned']);
    }
  });

  test('none is ended by a limit or a fault of ours', () => {
    for (const { run } of trials) {
      expect(run ?? '').not.toMatch(/did not end within|MiB of memory|Internal server error|is not defined/);
    }
  });
});
