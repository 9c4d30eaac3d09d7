import { openTable, type Table } from '../../shared/carry/table/table.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { porticoOf } from '../faults/every-call/portico-of.ts';
import type { StillStack } from '../faults/every-call/still-stack.ts';
import type { Portico } from '../spec/portico.ts';

/** What histories are made on: two Projects, and a look into the table that nothing disturbs. */
export interface Ground {
  portico: Portico;
  table: Table;
  projects: readonly [GroundProject, GroundProject];
  /** Of the links of invitations. */
  rings: ReturnType<typeof stageKeys<'invitation-link'>>['keyRings'];
}

interface GroundProject {
  id: string;
  /** Of its API key, which administers. */
  token: string;
}

export async function openGround(stack: StillStack): Promise<Ground> {
  const portico = porticoOf(stack);
  const table = openTable(stack.client, stack.tableName, Date.now);
  const [first, second] = portico.projects;
  if (!first || !second) throw new Error('The demo has two Projects');
  return {
    ...{ portico, table },
    projects: [
      { id: first.id, token: await portico.token(first) },
      { id: second.id, token: await portico.token(second) },
    ],
    rings: stageKeys(String(process.env.KEYS), table, ['invitation-link']).keyRings,
  };
}
