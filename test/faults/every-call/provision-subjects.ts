import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Key, keys } from '../../../shared/carry/table/keys.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import type { StageIssuerRequest } from '../../../shared/identity/issuers/manage-issuers.ts';
import type { AddRequest, RecoverRequest } from '../../../shared/identity/projects/administrators.ts';
import type { ChangeRequest } from '../../../shared/identity/projects/change-settings.ts';
import type { DeleteRequest } from '../../../shared/identity/projects/delete-project.ts';
import type { ForgetRequest } from '../../../shared/identity/projects/forget-user.ts';
import type { ProvisionRequest } from '../../../shared/identity/projects/provision.ts';
import type { OperatorRequest } from '../../../shared/identity/projects/requests.ts';
import type {
  ForgetEarlierRequest,
  RetireKeyRequest,
} from '../../../shared/identity/projects/retire-stage-key.ts';
import type { Portico } from '../../spec/portico.ts';
import { carriedOut } from './follow-up.ts';
import type { StillStack } from './still-stack.ts';
import type { Said } from './trial.ts';

const dayMs = 86_400_000;

/** What operators ask of `provision`. */
export function provisionSubjects(
  stack: StillStack,
  portico: Portico,
): Record<string, () => Promise<() => Promise<Said>>> {
  const project = String(portico.projects[0]?.id);
  const admin = () => ({ email: `new-${randomUUID()}@example.org`, firstName: 'Ada', lastName: 'Min' });
  const ask = async (request: OperatorRequest) => (await stack.load('provision'))(request);

  /** Changes an item as time would. */
  async function age(key: Key, change: object): Promise<void> {
    const item = (await openTable(stack.client, stack.tableName, Date.now).read([key])).get(key);
    const Item = { ...item, ...change };
    await stack.client.send(new PutCommand({ TableName: stack.tableName, Item }));
    stack.ways.noteWrite();
  }

  const requests = {
    'a Project': async (): Promise<ProvisionRequest> => ({ name: 'Clinic', client: true, admin: admin() }),
    'an administrator more': async (): Promise<AddRequest> => ({ project, admin: admin() }),
    'a change of a Project': async (): Promise<ChangeRequest> => ({ project, paused: true, disabled: true }),
    'a way back': async (): Promise<RecoverRequest> => ({
      project,
      recover: String(portico.projects[0]?.admin.email),
    }),
    'the end of a Project': async (): Promise<DeleteRequest> => {
      const made = await ask({ name: 'Leaving', admin: admin() });
      const { id } = (made as { project: { id: string } }).project;
      await ask({ project: id, disabled: true });
      await age(keys.resource(id, 'Project', id), { disabledAtMs: Date.now() - dayMs });
      return { project: id, delete: true };
    },
    'the end of a person': async (): Promise<ForgetRequest> => {
      const { email, ...names } = admin();
      const made = await ask({ name: 'Left', admin: { email, ...names } });
      const { id } = (made as { project: { id: string } }).project;
      await ask({ project: id, disabled: true });
      await age(keys.resource(id, 'Project', id), { disabledAtMs: Date.now() - dayMs });
      await ask({ project: id, delete: true });
      return { forget: email };
    },
    'the end of a key': async (): Promise<RetireKeyRequest> => {
      const keyMaker = await stack.load('stage-keys');
      await keyMaker({ purpose: 'drafts', step: 'prepare' });
      const key = keys.stageKey('drafts');
      await ageVersions(key);
      await keyMaker({ purpose: 'drafts', step: 'use' });
      await age(key, { currentSinceMs: Date.now() - 400 * dayMs });
      return { retireKey: 'drafts' };
    },
    'the end of the earlier secret': async (): Promise<ForgetEarlierRequest> => ({
      forgetEarlierSecret: true,
    }),
    'an issuer of the stage': async (): Promise<StageIssuerRequest> => ({
      issuer: { issuer: 'https://login.example.org', remove: true },
    }),
  };

  async function ageVersions(key: Key): Promise<void> {
    const item = (await openTable(stack.client, stack.tableName, Date.now).read([key])).get(key);
    const versions = ((item?.versions ?? []) as object[]).map((one) => ({
      ...one,
      madeAtMs: Date.now() - dayMs,
    }));
    await age(key, { versions });
  }

  /** A request that none of these makes does not compile. */
  type Made = Awaited<ReturnType<(typeof requests)[keyof typeof requests]>>;
  const isComplete: [Exclude<OperatorRequest, Made>] extends [never] ? true : never = true;
  if (!isComplete) throw new Error('A request is missing');

  return Object.fromEntries(
    Object.entries(requests).map(([label, make]) => [
      label,
      async () => {
        const request = await make();
        return () => carriedOut(() => ask(request));
      },
    ]),
  );
}
