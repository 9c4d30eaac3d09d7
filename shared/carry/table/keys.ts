import { createHash } from 'node:crypto';
import { placeOfEntry } from './entry-id.ts';

/** The primary key of the single table. */
export interface Key {
  pk: string;
  sk: string;
}

/** Whether what was read has the primary key that every item has. */
export function isKey(value: Record<string, unknown>): value is Record<string, unknown> & Key {
  return typeof value.pk === 'string' && typeof value.sk === 'string';
}

/** One text for a key, which no other key has. */
export function nameOfKey({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}

const head = 'HEAD';

const keyIn = (pk: string, sk = head): Key => ({ pk, sk });
const ofProject = (project: string, name: string, sk?: string) => keyIn(`P#${project}#${name}`, sk);
const ofBot = (project: string, botId: string, sk: string) => ofProject(project, `Bot#${botId}`, sk);
const ofExport = (project: string, id: string, sk?: string) => ofProject(project, `EXPORT#${id}`, sk);
/** `of` spreads the mails that wait over the partitions. */
const waitingMail = (of: string, sk: string) => keyIn(outboxPartition(shardOf(of, outboxShards)), sk);

/** What the partitions of audit logs have in their keys. */
export const logName = '#AuditEvent#LOG#';

/** What the sort keys of a resource's states begin with. */
export const versionPrefix = 'V#';

/** What the sort keys of mails begin with that tell people of changes to their sign-in. */
export const noticePrefix = 'NOTICE#';

/** What the sort keys of a Bot's versions begin with. */
export const botVersionPrefix = 'VERSION#';

/**
 * Every key pattern of the table. What belongs to a Project starts with `P#<project>#`, closing `#`
 * included, so that one Project's keys can never be a prefix of another's.
 */
export const keys = {
  /** The current state of a resource; its `refs` counts the memberships that use it as profile. */
  resource: (project: string, type: string, id: string): Key =>
    (type === 'AuditEvent' && entryKey(project, id)) || ofProject(project, `${type}#${id}`),
  /** One state of a resource; they sort as they followed each other. */
  version: (project: string, type: string, id: string, at: { lastUpdated: string; versionId: string }) =>
    ofProject(project, `${type}#${id}`, `${versionPrefix}${at.lastUpdated}#${at.versionId}`),
  /** A piece of a state too large for one item; `part` counts from 0. */
  part: (project: string, type: string, id: string, versionId: string, part: number) =>
    ofProject(project, `PART#${type}#${id}#${versionId}#${part}`),
  /** Leads from a value of a search parameter to the resource whose id ends `sort`. */
  index: (project: string, type: string, index: string, bucket: string, sort: string) =>
    ofProject(project, `IX#${type}#${index}#${bucket}`, sort),
  /** Where a search goes on whose parameters are to stay out of URLs. */
  page: (project: string, token: string) => ofProject(project, `PAGE#${token}`),
  /** What a conditional create or update found: two of one condition exclude each other. */
  condition: (project: string, search: string) => ofProject(project, `CONDITION#${hash(search)}`),
  /** A write of several steps that is under way, or was cut off. */
  pending: (project: string, type: string, id: string, versionId: string) =>
    keyIn(pendingPartition(shardOf(id, pendingShards)), `${project}#${type}#${id}#${versionId}`),
  /** How far the reindexing of one segment of the table has come. */
  reindex: (job: string, segment: number) => keyIn(`REINDEX#${job}`, String(segment)),
  /** One immutable version of a Bot's code, named by its hash. */
  botCode: (project: string, botId: string, version: string) => ofBot(project, botId, `CODE#${version}`),
  /** Leads back from a version's code to the author's lines, where these differ. */
  botSourceMap: (project: string, botId: string, version: string) => ofBot(project, botId, `MAP#${version}`),
  /** What a version was made of, where that is another text than what runs. */
  botSource: (project: string, botId: string, version: string) => ofBot(project, botId, `SOURCE#${version}`),
  /** A Bot's versions as they were first deployed, one after the other. */
  botVersion: (project: string, botId: string, deployed: string, version: string) =>
    ofBot(project, botId, `${botVersionPrefix}${deployed}#${version}`),
  /** What all Bots of a Project are given under seal, and what one Bot is. */
  projectSecrets: (project: string) => ofProject(project, 'SECRETS'),
  botSecrets: (project: string, botId: string) => ofBot(project, botId, 'SECRETS'),
  /** One of a Bot's runs, by time and id of its AuditEvent: spread, because every run writes one. */
  run: (project: string, botId: string, shard: number, sort: string) =>
    ofProject(project, `RUNS#${botId}#${shard}`, sort),
  /** That a Bot ran on a day. */
  runDay: (project: string, day: string, botId: string) => ofProject(project, 'RUN-DAYS', `${day}#${botId}`),
  /** An audit entry that is no run, by time and id. */
  logEntry: (project: string, shard: number, sort: string) => keyIn(`P#${project}${logName}${shard}`, sort),
  /** A run that nobody waits for. */
  job: (project: string, id: string) => ofProject(project, `JOB#${id}`),
  /** An export of the Project. */
  export: (project: string, id: string) => ofExport(project, id),
  /** One of its files, whose bytes lie in parts. */
  exportFile: (project: string, id: string, name: string) => ofExport(project, id, `FILE#${name}`),
  /** What it has met on its way and needs later. */
  exportNote: (project: string, id: string, kind: string, noted: string) =>
    ofExport(project, id, `NOTE#${kind}#${noted}`),
  /** The export that is going on in a Project: one at a time. */
  exporting: (project: string) => ofProject(project, 'EXPORTING'),
  /** That a run is to end, by what it may be cancelled by. */
  cancelledRun: (project: string, cancelKey: string) => ofProject(project, `CANCELLED#${cancelKey}`),
  /** The runs that are going on in a Project, of those that are limited. */
  running: (project: string) => ofProject(project, 'RUNNING'),
  /** One of the Subscriptions of a Project that are not deleted: its type, for who looks for them by type. */
  subscription: (project: string, id: string) => ofProject(project, 'SUBSCRIPTIONS', id),
  /** What a Subscription sends along under seal. */
  subscriptionSecrets: (project: string, id: string) => ofProject(project, `Subscription#${id}`, 'SECRETS'),
  /** What is to be delivered to a Subscription of one version of a record, and how far that has come. */
  delivery: (project: string, id: string) => ofProject(project, `DELIVERY#${id}`),
  /** A delivery that has not ended, in the order of its lane: the versions of one record for one Subscription. */
  laneEntry: (project: string, subscriptionId: string, lane: string, sort: string) =>
    ofProject(project, `LANE#${subscriptionId}#${lane}`, sort),
  /** A lane that waits for a place, or for its Subscription to go on. */
  waitingLane: (project: string, subscriptionId: string, lane: string) =>
    ofProject(project, `WAITING#${subscriptionId}`, lane),
  /** The deliveries of a Subscription that are under way, and how many have failed one after the other. */
  delivering: (project: string, subscriptionId: string) => ofProject(project, `DELIVERING#${subscriptionId}`),
  /** One attempt to deliver, by time. */
  attempt: (project: string, subscriptionId: string, sort: string) =>
    ofProject(project, `ATTEMPTS#${subscriptionId}`, sort),
  /** When a Bot with a schedule is due: one item for each of a Project's. */
  schedule: (project: string, botId: string) => ofProject(project, 'SCHEDULES', botId),
  /** Changes whose Subscriptions have expressions evaluated just now. */
  evaluating: (project: string) => ofProject(project, 'EVALUATING'),
  /** How many deliveries one call or tick has brought about. */
  origin: (project: string, origin: string) => ofProject(project, `ORIGIN#${origin}`),
  /** How many runs a run and all that follow from it have started. */
  runTree: (project: string, root: string) => ofProject(project, `RUN-TREE#${root}`),
  /** Unique inside a Project: leads from an identifier to its Bot. */
  botIdentifier: (project: string, system: string, value: string) =>
    ofProject(project, `BOT-IDENTIFIER#${hash(system, value)}`),
  /** All that a Project knows of one person: memberships by profile type, profiles of earlier ones. */
  person: (project: string, login: string) => ofProject(project, `PERSON#${login}`),
  /** How many active, accepted, human administrators a Project has. */
  administrators: (project: string) => ofProject(project, 'ADMINISTRATORS'),
  /** An hourly counter. */
  rate: (project: string, what: string, hour: number) => ofProject(project, `RATE#${what}#${hour}`),

  /** Somebody at this address said that mail of this Project is unwanted: it gets no more. */
  complaint: (project: string, email: string) => ofProject(project, `COMPLAINT#${email}`),
  /** What a request with an Idempotency-Key did: of one membership, on one route. */
  idempotency: (project: string, membershipId: string, route: string, key: string) =>
    ofProject(project, `IDEMPOTENCY#${hash(membershipId, route, key)}`),

  /** An issuer that a Project trusts for itself, or one that the stage trusts for all Projects. */
  issuer: (project: string | undefined, issuerId: string) =>
    project === undefined ? keyIn('STAGE#ISSUERS', issuerId) : ofProject(project, 'ISSUERS', issuerId),
  /** Leads from whom an issuer calls by this name to a User: for its Project only, or for the stage. */
  subject: (project: string | undefined, issuer: string, subject: string) => {
    const name = `SUBJECT#${hash(issuer, subject)}`;
    return project === undefined ? keyIn(name) : ofProject(project, name);
  },

  /** How far the deletion of a Project is, and that it was deleted. */
  deletion: (project: string) => keyIn(`DELETION#${project}`),

  user: (id: string) => keyIn(`U#${id}`),
  password: (userId: string) => keyIn(`U#${userId}`, 'PASSWORD'),
  /** The one name that an issuer has for a User. */
  userSubject: (userId: string, project: string | undefined, issuer: string) =>
    keyIn(`U#${userId}`, `ISSUER#${hash(project ?? '', issuer)}`),
  /** The address that a person wants to change to, until it is confirmed. */
  addressChange: (userId: string) => keyIn(`U#${userId}`, 'ADDRESS'),
  /** Their latest changes of address, which can be undone. */
  addressUndo: (userId: string) => keyIn(`U#${userId}`, 'ADDRESS-UNDO'),
  /** A person's second factor: the seed of its secret, and the last step of time that was used. */
  mfa: (userId: string) => keyIn(`U#${userId}`, 'MFA'),
  /** The mirror of a membership under its User, for reading all of a User's memberships at once. */
  userMembership: (userId: string, project: string, membershipId: string) =>
    keyIn(`U#${userId}`, `M#${project}#${membershipId}`),
  /** The mirror of a login under its User, for ending all of a person's logins. */
  userLogin: (userId: string, loginId: string) => keyIn(`U#${userId}`, `L#${loginId}`),
  /** Unique above Projects: leads from a normalised e-mail address to its User. */
  address: (email: string) => keyIn(`E#${email}`),
  /** Leads from a client id to its Project and secret. */
  client: (clientId: string) => keyIn(`C#${clientId}`),
  /** A client's signed assertion that was used (RFC 7523): its `jti` works once. */
  assertion: (clientId: string, jti: string) => keyIn(`ASSERTION#${hash(clientId, jti)}`),
  /** How often a password was tried in a stretch of time: for an address, or from one source for it. */
  attempts: (of: string[], window: number) => keyIn(`TRIES#${hash(...of)}#${window}`),
  /** That an address has signed in from a source, and for how long that is remembered. */
  knownSignIn: (source: string, address: string) => keyIn(`SOURCE#${hash(source, address)}`),
  /** The addresses that were tried from one source in a stretch of time, and have not signed in. */
  sourceAttempts: (source: string, window: number) => keyIn(`SOURCE#${hash(source)}#${window}`),
  /** What an owner has had of a function's executions in a second. */
  share: (of: string, owner: string, second: number) => keyIn(`SHARE#${hash(of, owner)}#${second}`),
  /** One sign-in of a person or a program; access tokens name it. */
  login: (loginId: string) => keyIn(`L#${loginId}`),

  /** The stage's public signing keys (JWKS). */
  publicKeys: () => keyIn('STAGE', 'JWKS'),
  /** Its secret key for one purpose, wrapped. */
  stageKey: (purpose: string) => keyIn('STAGE', `KEY#${purpose}`),
  /** The one secret, wrapped, that earlier releases had for all purposes. */
  stageSecret: () => keyIn('STAGE', 'SECRET'),

  /** A mail that waits to be sent: one per membership, overwritten by the next invitation. */
  outbox: (project: string, membershipId: string) => waitingMail(membershipId, `${project}#${membershipId}`),
  /** A mail for who has forgotten their password: one per address, overwritten by the next request. */
  resetMail: (email: string, project: string | undefined) =>
    waitingMail(email, `RESET#${hash(email, project ?? '')}`),
  /** A mail to the new address of a person, which they are to confirm: one per person. */
  addressMail: (userId: string) => waitingMail(userId, `ADDRESS#new#${userId}`),
  /** A mail that tells a person what was changed: a later change must not overwrite one to another address. */
  noticeMail: (userId: string, event: string, email: string) =>
    waitingMail(userId, `${noticePrefix}${event}#${userId}#${hash(email)}`),
  /** A mail that tells an administrator that a Subscription has failed. */
  failureMail: (project: string, subscriptionId: string, membershipId: string) =>
    waitingMail(membershipId, `FAILED#${project}#${subscriptionId}#${membershipId}`),
  /** A mail that tells a member that somebody has taken emergency access. */
  emergencyMail: (project: string, takenBy: { membershipId: string; startedAtMs: number }, toldId: string) =>
    waitingMail(toldId, `EMERGENCY#${project}#${takenBy.membershipId}#${takenBy.startedAtMs}#${toldId}`),
  /** How many mails one address got on one day, over all Projects. */
  mailQuota: (email: string, day: string) => keyIn(`MAIL#${email}#${day}`),
} as const;

const scheduleShards = 4;

/** The partitions in which a tick looks for what is due. */
export function scheduleDuePartitions(): string[] {
  return Array.from({ length: scheduleShards }, (_, shard) => `SCHEDULE#${shard}`);
}

/** By its instant: that a Bot is due. */
export function dueKey(project: string, botId: string, dueAt: string): Key {
  return keyIn(`SCHEDULE#${shardOf(botId, scheduleShards)}`, `${dueAt}#${project}#${botId}`);
}

/** Beside it: that a job was written and is to be started. */
export function startKey(project: string, botId: string, dueAt: string): Key {
  const { pk, sk } = dueKey(project, botId, dueAt);
  return { pk, sk: `${sk}#START` };
}

/** What a tick writes. */
export const schedulePartitions = ['SCHEDULE#*', ...['SCHEDULES', 'JOB#*'].map(inEveryProject)];

/** Partitions of deliveries, as IAM's patterns of leading keys: who may write these writes no resource. */
export const deliveryPartitions = ['DELIVERY#*', 'LANE#*', 'ATTEMPTS#*'].map(inEveryProject);
/** How many deliveries one call has brought about, and whose turn it is to be matched by expressions. */
export const originPartitions = ['ORIGIN#*', 'EVALUATING'].map(inEveryProject);
/** Deliveries that are under way or wait. */
export const waitingPartitions = ['DELIVERING#*', 'WAITING#*'].map(inEveryProject);
/** Records of runs, and the runs that are going on. */
export const runPartitions = ['RUNS#*', 'RUN-DAYS', 'RUNNING', 'RUN-TREE#*'].map(inEveryProject);

/** What an export writes, audit entries of its end included. */
export const exportPartitions = ['EXPORT#*', 'EXPORTING', 'PART#Export#*', 'AuditEvent#LOG#*'].map(
  inEveryProject,
);

/** Whether it is an export's own item, and not that of one of its files. */
export function isExportKey({ pk, sk }: Key): boolean {
  return sk === head && /^P#[^#]+#EXPORT#/.test(pk);
}

function inEveryProject(pattern: string): string {
  return `P#*#${pattern}`;
}

const outboxShards = 16;

/** The partitions that a sweep of unsent mail reads. */
export function outboxPartitions(): string[] {
  return Array.from({ length: outboxShards }, (_, shard) => outboxPartition(shard));
}

/**
 * Over how many partitions a Bot's runs are spread: two take the thousand requests a second that a stage
 * lets through, with records of 2 KB.
 */
export const runShards = 2;

/** Those of earlier releases lie in four. */
export const listedRunShards = 4;

/** Over how many partitions the other audit entries of a Project are spread. */
export const logShards = 4;

/** Where an AuditEvent is by its id; undefined for the ids of earlier releases. */
function entryKey(project: string, id: string): Key | undefined {
  const place = placeOfEntry(id);
  if (!place) return undefined;
  const sort = entrySort(new Date(place.atMs).toISOString(), id);
  return place.botId === undefined
    ? keys.logEntry(project, shardOf(id, logShards), sort)
    : keys.run(project, place.botId, shardOf(id, runShards), sort);
}

/** The sort key of whatever is listed by time. @param at an instant of R4 */
export function entrySort(at: string, id: string): string {
  return `${at}#${id}`;
}

/** Where entries of earlier releases are listed. */
export function earlierRunKey(project: string, botId: string, sort: string, id: string): Key {
  return keys.run(project, botId, shardOf(id, listedRunShards), sort);
}

export function logKey(project: string, sort: string, id: string): Key {
  return keys.logEntry(project, shardOf(id, logShards), sort);
}

const pendingShards = 16;

/** The partitions that a sweep of cut-off writes reads. */
export function pendingPartitions(): string[] {
  return Array.from({ length: pendingShards }, (_, shard) => pendingPartition(shard));
}

/** The Project, type and id of a head; undefined for every other key. */
export function parseHead({ pk, sk }: Key): { project: string; type: string; id: string } | undefined {
  const entry = /^P#([^#]+)#(?:AuditEvent#LOG|RUNS#[^#]+)#\d$/.exec(pk);
  const id = sk.slice(sk.indexOf('#') + 1);
  if (entry?.[1]) return placeOfEntry(id) && { project: entry[1], type: 'AuditEvent', id };
  const match = /^P#([^#]+)#([A-Z][A-Za-z]+)#([^#]+)$/.exec(pk);
  return sk === head && match?.[1] && match[2] && match[3]
    ? { project: match[1], type: match[2], id: match[3] }
    : undefined;
}

export function isOutboxKey(pk: string): boolean {
  return pk.startsWith('OUTBOX#');
}

function outboxPartition(shard: number): string {
  return `OUTBOX#${shard}`;
}

function pendingPartition(shard: number): string {
  return `PENDING#${shard}`;
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Which of so many partitions holds what has this name; always the same one. */
export function shardOf(text: string, shards: number): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) % shards;
}

const longestSortKey = 1024;

/** Whether DynamoDB would take it as a sort key. */
export function isSortKey(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= longestSortKey;
}
