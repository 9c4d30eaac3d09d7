import { keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { stageKeyOf, writeStageKey } from '../../shared/carry/keys/stage-key.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { inlineResource } from '../../shared/store/items/content.ts';
import { sweepCutOff } from '../../shared/store/items/upkeep.ts';
import { classify, type KeyPattern } from '../check-table/key-rules.ts';
import type { Prepared, Recovery, Step } from './since-lost.ts';
import * as since from './since-lost.ts';

/**
 * A key of the stage that was replaced since stays replaced, and second factors that were enrolled since are good. What
 * the restored table has of a version that was retired since opens too: it holds what that version made.
 */
async function keepStageKeys({ table, lost }: Recovery): Promise<void> {
  if (!lost) return;
  const wanted = keyPurposes.map(keys.stageKey);
  const [then, atLoss] = await Promise.all([table.read(wanted), lost.read(wanted)]);
  for (const purpose of keyPurposes) {
    const before = stageKeyOf(then.get(keys.stageKey(purpose)));
    const last = stageKeyOf(atLoss.get(keys.stageKey(purpose)));
    if (!last) continue;
    const { versions, current, currentSinceMs } = last;
    const earlier = (before?.versions ?? []).filter(
      ({ version }) => !versions.some((one) => one.version === version),
    );
    await writeStageKey(
      table,
      purpose,
      { versions: [...earlier, ...versions], current, currentSinceMs },
      before,
    );
  }
}

/** Part of what a table was put back to, and right as it was then. */
const stays = undefined;

function remover(count: (prepared: Prepared, item: Item) => void): Step {
  return async ({ table }, item, prepared) => {
    await table.write([], [{ pk: item.pk, sk: item.sk }]);
    count(prepared, item);
  };
}

const drop = remover(() => undefined);
const dropMail = remover((prepared) => {
  prepared.mailsDropped += 1;
});
/** What is exported after a restore is asked for after it: one that was ended since would be back otherwise. */
const dropExport = remover((prepared) => {
  prepared.exportsDropped += 1;
});

const endLogin: Step = async ({ table }, item, prepared) => {
  if (item.revoked === true) return;
  await since.set(table, item, 'revoked = :true', { ':true': true });
  prepared.loginsEnded += 1;
};

/** What is done with each pattern of keys before a restored table is used; a new pattern has to say. */
const stepsOf: Readonly<Record<KeyPattern, Step | undefined>> = {
  // `ofType` says what else is done with some.
  ...{ resource: since.tidyLate, version: stays, index: stays, logEntry: since.indexLateEntry },
  // What was cut off is swept at the end.
  ...{ pending: stays, reindex: stays },
  ...{ page: stays, condition: stays, idempotency: stays, deletion: stays },
  part: async (recovery, item, prepared) =>
    item.pk.includes('#PART#Export#') ? drop(recovery, item, prepared) : undefined,
  // Bots stand still until their Project goes on; what they were given since is what others still take.
  ...{ botCode: stays, botSourceMap: stays, botSource: stays, botVersion: stays, botIdentifier: stays },
  ...{ projectSecrets: since.keepCredential, botSecrets: since.keepCredential },
  ...{ run: stays, runDay: stays, running: stays, runTree: stays, origin: stays, cancelledRun: stays },
  job: stays,
  schedule: stays,
  // A job that was written and not started: it has run since.
  due: async (recovery, item, prepared) =>
    item.jobId === undefined ? undefined : drop(recovery, item, prepared),
  ...{ export: dropExport, exportFile: drop, exportNote: drop, exporting: drop },
  // Its secrets belong to the endpoint that it had then.
  ...{
    subscription: stays,
    subscriptionSecrets: stays,
    delivering: stays,
    evaluating: stays,
    attempt: stays,
  },
  ...{ delivery: since.endDelivery, laneEntry: stays, waitingLane: stays },
  ...{ person: stays, administrators: stays, rate: stays, complaint: stays, mailQuota: stays },
  ...{ issuer: since.keepCredential, userSubject: since.keepSubject, subject: since.endSubject },
  ...{ user: since.keepAccount, address: stays, userMembership: stays, userLogin: stays },
  ...{ password: since.keepCredential, mfa: stays, client: since.keepClient },
  // The link to a new address is bound to it.
  addressChange: drop,
  addressUndo: drop,
  ...{ assertion: stays, attempts: stays, knownSignIn: stays, sourceAttempts: stays, share: stays },
  login: endLogin,
  // Secret keys are kept together, at the end.
  ...{ publicKeys: stays, stageKey: stays, stageSecret: stays },
  ...{ outbox: dropMail, resetMail: dropMail, addressMail: dropMail, noticeMail: dropMail },
  ...{ failureMail: dropMail, emergencyMail: dropMail },
};

const pauseProject: Step = async (recovery, item, prepared) => {
  if (item.deleted === true) return;
  // Emergency access that was ended after the restored moment has ended.
  const paused = { ':true': true, ':now': recovery.now() };
  await since.set(recovery.table, item, 'paused = :true, emergencyEndedAtMs = :now', paused);
  prepared.projectsPaused += 1;
  const project = inlineResource('Project', item);
  prepared.projects.push(`${project?.id} ${project?.name}`);
  await since.endProject(recovery, item, prepared);
};

/** Who was invited gets a new link; who was removed since does not come back. */
const endInvitation: Step = async (recovery, item, prepared) => {
  if (item.deleted === true) return;
  const { state, expiresAtMs } = (item.invitation ?? {}) as { state?: unknown; expiresAtMs?: unknown };
  if (state === 'pending' && Number(expiresAtMs) > recovery.now()) {
    await since.set(recovery.table, item, 'invitation.expiresAtMs = :now', { ':now': recovery.now() });
    prepared.invitationsEnded += 1;
  }
  await since.endMembership(recovery, item, prepared);
};

const ofType: Readonly<Record<string, Step>> = {
  Project: pauseProject,
  ProjectMembership: endInvitation,
  ...{ AccessPolicy: since.tellOfChange, Bot: since.tellOfChange, Subscription: since.tellOfChange },
};

/**
 * Makes a restored table fit to be used: every sign-in has ended, no link of a mail opens anything, no mail waits, and
 * Bots, Subscriptions and schedules of every Project are stopped until somebody lets them go on. Doing it again does no harm.
 */
export async function prepareRestored(recovery: Recovery): Promise<Prepared> {
  const prepared = since.nothingPrepared();
  let from: Key | undefined;
  do {
    const page = await recovery.scan(from);
    for (const item of page.items) {
      prepared.items += 1;
      const { pattern, named: [, type = ''] = [] } = classify(item) ?? {};
      if (pattern) await stepsOf[pattern]?.(recovery, item, prepared);
      if (pattern === 'resource') await ofType[type]?.(recovery, item, prepared);
    }
    from = page.next;
  } while (from);
  await keepStageKeys(recovery);
  // Once all steps are done: a write that was cut off then is undone.
  const { failed } = await sweepCutOff(recovery);
  if (failed.length > 0) throw new Error(`Writes that were cut off are left: ${failed.join(', ')}`);
  return prepared;
}
