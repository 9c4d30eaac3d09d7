import type { Item } from '../../shared/table/item.ts';
import type { Key } from '../../shared/table/keys.ts';
import { classify, type KeyPattern } from '../check-table/check-item.ts';
import { keepStageKeys } from './keep-stage-keys.ts';
import type { Prepared, Recovery } from './recovery.ts';
import { endMembership, endProject, keepCredential } from './since-lost.ts';

type Step = (recovery: Recovery, item: Item, prepared: Prepared) => Promise<void>;

/**
 * Makes a restored table fit to be used: every sign-in has ended, no link of a mail opens anything, no mail waits, and
 * Bots, Subscriptions and schedules of every Project are stopped until somebody lets them go on. Doing it again does no harm.
 */
export async function prepareRestored(recovery: Recovery): Promise<Prepared> {
  const prepared: Prepared = {
    ...{ items: 0, loginsEnded: 0, invitationsEnded: 0, mailsDropped: 0, projectsPaused: 0 },
    ...{ credentialsKept: 0, membershipsEnded: 0, open: [] },
  };
  let from: Key | undefined;
  do {
    const page = await recovery.scan(from);
    for (const item of page.items) await prepare(recovery, item, prepared);
    from = page.next;
  } while (from);
  await keepStageKeys(recovery);
  return prepared;
}

async function prepare(recovery: Recovery, item: Item, prepared: Prepared): Promise<void> {
  prepared.items += 1;
  const found = classify(item);
  const step = found && (stepsOf[found.pattern] ?? ofType(found.pattern, found.named.type));
  await step?.(recovery, item, prepared);
}

function ofType(pattern: KeyPattern, type: string | undefined): Step | undefined {
  if (pattern !== 'resource') return undefined;
  return type === 'Project' ? pauseProject : type === 'ProjectMembership' ? endInvitation : undefined;
}

const dropMail: Step = async ({ table }, { pk, sk }, prepared) => {
  await table.write([], [{ pk, sk }]);
  prepared.mailsDropped += 1;
};

const stepsOf: Partial<Record<KeyPattern, Step>> = {
  async login({ table }, { pk, sk, revoked }, prepared) {
    if (revoked === true) return;
    await table.update({
      Key: { pk, sk },
      UpdateExpression: 'SET revoked = :true',
      ExpressionAttributeValues: { ':true': true },
    });
    prepared.loginsEnded += 1;
  },
  // The link to a new address is bound to it.
  async addressChange({ table }, { pk, sk }) {
    await table.write([], [{ pk, sk }]);
  },
  outbox: dropMail,
  resetMail: dropMail,
  addressMail: dropMail,
  noticeMail: dropMail,
  failureMail: dropMail,
  emergencyMail: dropMail,
  password: keepCredential,
  mfa: keepCredential,
  client: keepCredential,
};

async function pauseProject(
  recovery: Recovery,
  { pk, sk, deleted }: Item,
  prepared: Prepared,
): Promise<void> {
  if (deleted === true) return;
  // Emergency access that was ended after the restored moment has ended.
  const values = { ':true': true, ':now': recovery.now() };
  const Key = { pk, sk };
  await recovery.table.update({
    Key,
    UpdateExpression: 'SET paused = :true, emergencyEndedAtMs = :now',
    ExpressionAttributeValues: values,
  });
  prepared.projectsPaused += 1;
  await endProject(recovery, Key, prepared);
}

/** Who was invited gets a new link; who was removed since does not come back. */
async function endInvitation(recovery: Recovery, item: Item, prepared: Prepared): Promise<void> {
  const { pk, sk, invitation } = item;
  if (item.deleted === true) return;
  const { state, expiresAtMs } = (invitation ?? {}) as { state?: unknown; expiresAtMs?: unknown };
  if (state === 'pending' && Number(expiresAtMs) > recovery.now()) {
    await recovery.table.update({
      Key: { pk, sk },
      UpdateExpression: 'SET invitation.expiresAtMs = :now',
      ExpressionAttributeValues: { ':now': recovery.now() },
    });
    prepared.invitationsEnded += 1;
  }
  await endMembership(recovery, item, prepared);
}
