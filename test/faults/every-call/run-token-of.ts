import { openTable } from '../../../shared/carry/table/table.ts';
import { stageKeys } from '../../../shared/composition/stage-keys.ts';
import { mintRunToken } from '../../../shared/identity/gate/access-token.ts';
import type { Portico } from '../../spec/portico.ts';
import { membershipOf, projectOf } from '../../spec/running.ts';
import type { StillStack } from './still-stack.ts';

/** What a run of a Bot of the first Project calls with, for an hour. */
export async function runTokenOf(
  { client, tableName }: StillStack,
  portico: Portico,
  botId: string,
): Promise<string> {
  const table = openTable(client, tableName, Date.now);
  const { keyRings } = stageKeys(String(process.env.KEYS), table, ['run-token']);
  const project = projectOf(portico, 0).id;
  const identity = { project, botId, membershipId: await membershipOf(portico, botId) };
  const run = { id: 'run', root: 'run', depth: 1, deadlineAtMs: Date.now() + 3_600_000 };
  return mintRunToken(keyRings['run-token'], identity, run);
}
