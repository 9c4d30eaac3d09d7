import { typedEntries } from '../../shared/base/values.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { dueKey, type Key, keys } from '../../shared/carry/table/keys.ts';
import { indexedId } from '../../shared/store/index/key-range.ts';
import { isResourceType } from '../../shared/store/index/registry.ts';
import type { TableRule } from './rule.ts';
import * as bots from './rules/bots.ts';
import * as people from './rules/people.ts';
import * as resources from './rules/resources.ts';

/** Those of `shared/carry/table/keys.ts`, and the one that ticks read. */
export type KeyPattern = keyof typeof keys | 'due';

const { headIsThere } = resources;
const { versionHasCode } = bots;
const { userExists } = people;

/** What holds of the items of a pattern, where anything does. */
const rulesOfPattern: Readonly<Partial<Record<KeyPattern, readonly TableRule[]>>> = {
  resource: [
    resources.contentAgrees,
    resources.isIndexed,
    resources.historyIsComplete,
    resources.usesAreCounted,
  ],
  version: [resources.contentAgrees, resources.bytesAreThere, headIsThere],
  part: [resources.partIsNamed],
  index: [resources.indexLeads],
  pending: [resources.noteIsYoung],
  exportFile: [resources.exportHasParts],
  ...{ botCode: [headIsThere], botSourceMap: [versionHasCode], botSource: [versionHasCode] },
  ...{ botVersion: [versionHasCode], botSecrets: [bots.ownerStands], botIdentifier: [bots.identifierLeads] },
  ...{ subscription: [bots.listedStands('Subscription')], subscriptionSecrets: [bots.ownerStands] },
  ...{ schedule: [bots.listedStands('Bot'), bots.scheduleIsDue] },
  ...{ delivery: [bots.deliveryWaits], laneEntry: [bots.laneLeads] },
  ...{ person: [people.personAgrees], administrators: [people.administratorsAreCounted] },
  ...{ user: [people.userOwnsAddress], address: [people.addressLeads], password: [userExists] },
  ...{
    addressChange: [userExists],
    addressUndo: [userExists],
    userLogin: [userExists],
    mfa: [userExists, bots.factorHasKey],
  },
  ...{ subject: [people.subjectLeads], userSubject: [userExists, people.subjectIsLinked] },
  userMembership: [userExists, people.mirrorAgrees],
  ...{ client: [people.credentialStands], login: [people.loginStands], outbox: [people.mailIsDue] },
  stageKey: [bots.keyIsWhole],
};

/** What holds of resources of one type beside what holds of all. */
const rulesOfType: Readonly<Record<string, readonly TableRule[]>> = {
  ProjectMembership: [people.membershipStands],
  ClientApplication: [people.clientHasCredential],
  Bot: [bots.botIsWhole],
  Subscription: [bots.subscriptionIsListed],
};

/** Whether all items of a pattern must have a time to live: without one they would stay for ever. */
export const expires: Readonly<Record<KeyPattern, boolean>> = {
  ...{ page: true, condition: true, run: true, runDay: true, job: true, cancelledRun: true, origin: true },
  ...{ runTree: true, export: true, exportFile: true, exportNote: true, delivery: true, laneEntry: true },
  ...{ waitingLane: true, attempt: true, rate: true, idempotency: true, addressChange: true },
  ...{ addressUndo: true, userLogin: true, assertion: true, attempts: true, sourceAttempts: true },
  ...{ outbox: true, resetMail: true, addressMail: true, noticeMail: true, failureMail: true },
  ...{ emergencyMail: true, mailQuota: true, knownSignIn: true, share: true },
  ...{ resource: false, version: false, part: false, index: false, pending: false, reindex: false },
  ...{ logEntry: false, exporting: false, botCode: false, botSourceMap: false, botSource: false },
  ...{ botVersion: false, botSecrets: false, botIdentifier: false, subscription: false },
  ...{ subscriptionSecrets: false, delivering: false, evaluating: false, running: false, schedule: false },
  ...{ projectSecrets: false, person: false, administrators: false, complaint: false, issuer: false },
  ...{ subject: false, deletion: false, user: false, password: false, userSubject: false },
  ...{ userMembership: false, mfa: false, address: false, client: false, login: false, publicKeys: false },
  ...{ stageKey: false, stageSecret: false, due: false },
};

/** A key, and what it was made of: its pattern, and the arguments of that, in their order. */
export interface Classified {
  pattern: KeyPattern;
  named: string[];
}

/** The rules for an item, with what they are given of its key. */
export function rulesFor(
  { pattern, named }: Classified,
  item: Item,
): { rules: readonly TableRule[]; named: string[] } {
  const [project = '', type = ''] = named;
  const ofContent = [resources.contentAgrees, resources.isIndexed];
  // Entries of earlier releases are resources like others but for their versions, and listed where entries now are.
  if (pattern === 'resource' && type === 'AuditEvent') return { rules: ofContent, named };
  if (pattern === 'logEntry') {
    const rules = item.content === undefined ? [] : ofContent;
    return { rules, named: [project, 'AuditEvent', indexedId(item.sk)] };
  }
  const more = pattern === 'resource' ? (rulesOfType[type] ?? []) : [];
  return { rules: [...(rulesOfPattern[pattern] ?? []), ...more], named };
}

/** In place of an argument: what stands there in a key is the argument. */
const mark = (i: number) => `<${i}>`;
const marks = Array.from({ length: 6 }, (_, i) => mark(i));

/** Arguments that are no text, or may be left out. */
const special: Readonly<Partial<Record<KeyPattern, readonly unknown[][]>>> = {
  version: [[mark(0), mark(1), mark(2), { lastUpdated: mark(3), versionId: mark(4) }]],
  emergencyMail: [[mark(0), { membershipId: mark(1), startedAtMs: mark(2) }, mark(3)]],
  ...{ issuer: [marks, [undefined, mark(1)]], subject: [marks, [undefined, mark(1), mark(2)]] },
};

/** The patterns as the functions of `keys` make them, those with the most text of their own first. */
const patterns = [...typedEntries(keys), ['due', dueKey] as const]
  .flatMap(([pattern, keyOf]) =>
    (special[pattern] ?? [marks]).map((args) => {
      const { pk, sk } = (keyOf as (...args: unknown[]) => Key)(...args);
      const text = `${pk}\n${sk}`;
      return { pattern, form: formOf(text), ownLength: text.replace(/<\d>/g, '').length };
    }),
  )
  .sort((a, b) => b.ownLength - a.ownLength);

/** Hashes and the numbers of shards differ from key to key. */
function formOf(text: string): RegExp {
  const form = text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/[0-9a-f]{64}/g, '[0-9a-f]{64}')
    .replace(/#\d+\n/, '#\\d+\n')
    .replace(/<(\d)>(?=\n|$)/g, '(?<_$1>.*)')
    .replace(/<(\d)>/g, '(?<_$1>.+?)');
  return new RegExp(`^${form}$`);
}

/** Which pattern a key has, and what it names; undefined for a key of none. */
export function classify({ pk, sk }: Key): Classified | undefined {
  for (const { pattern, form } of patterns) {
    const found = form.exec(`${pk}\n${sk}`);
    if (!found) continue;
    const named = marks.map((_, i) => found.groups?.[`_${i}`] ?? '');
    const isResource = pattern === 'resource' || pattern === 'version';
    if (!isResource || isResourceType(named[1] ?? '')) return { pattern, named };
  }
  return undefined;
}
