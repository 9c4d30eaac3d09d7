import type { keys } from '../../shared/table/keys.ts';
import type { KeyRule } from './rule.ts';
import * as bots from './rules/bots.ts';
import * as people from './rules/people.ts';
import * as resources from './rules/resources.ts';
import * as stage from './rules/stage.ts';

const head = /^HEAD$/;
const any = /^/;
const project = 'P#(?<project>[^#]+)#';

/** A partition inside a Project. */
function within(rest: string): RegExp {
  return new RegExp(`^${project}${rest}$`);
}

function of(type: string): RegExp {
  return within(`(?<type>${type})#(?<id>[^#]+)`);
}

const leftBehind = [resources.headIsThere];

/** What holds of each key pattern of `shared/table/keys.ts`, and of the two that ticks read. */
export const keyRules: Readonly<Record<keyof typeof keys | 'due', KeyRule>> = {
  /** `classify` asks whether the type is one of R4. */
  resource: {
    pk: of('[A-Z][A-Za-z]+'),
    sk: head,
    rules: [
      resources.contentAgrees,
      resources.isIndexed,
      resources.historyIsComplete,
      resources.usesAreCounted,
    ],
  },
  version: {
    pk: of('[A-Z][A-Za-z]+'),
    sk: /^V#/,
    rules: [resources.contentAgrees, resources.bytesAreThere, ...leftBehind],
  },
  part: {
    pk: within('PART#(?<type>[^#]+)#(?<id>[^#]+)#(?<versionId>[^#]+)#(?<part>\\d+)'),
    sk: head,
    rules: [resources.partIsNamed],
  },
  index: {
    pk: within('IX#(?<type>[^#]+)#(?<index>[^#]+)#(?<bucket>.*)'),
    sk: any,
    rules: [resources.indexLeads],
  },
  page: { pk: within('PAGE#.+'), sk: head, expires: true },
  condition: { pk: within('CONDITION#.+'), sk: head, expires: true },
  pending: { pk: /^PENDING#\d+$/, sk: any, rules: [resources.noteIsYoung] },
  deletion: { pk: /^DELETION#[^#]+$/, sk: head },
  reindex: { pk: /^REINDEX#.+$/, sk: any },
  botCode: { pk: of('Bot'), sk: /^CODE#/, rules: leftBehind },
  botSourceMap: { pk: of('Bot'), sk: /^MAP#(?<version>.+)$/, rules: [bots.versionHasCode] },
  botSource: { pk: of('Bot'), sk: /^SOURCE#(?<version>.+)$/, rules: [bots.versionHasCode] },
  botVersion: { pk: of('Bot'), sk: /^VERSION#[^#]+#(?<version>.+)$/, rules: [bots.versionHasCode] },
  projectSecrets: { pk: within('SECRETS'), sk: head },
  botSecrets: { pk: of('Bot'), sk: /^SECRETS$/, rules: [bots.ownerStands] },
  run: { pk: within('RUNS#[^#]+#\\d'), sk: any, expires: true },
  runDay: { pk: within('RUN-DAYS'), sk: any, expires: true },
  logEntry: {
    pk: within('AuditEvent#LOG#\\d'),
    sk: /(?:^|#)(?<id>[^#]+)$/,
    rules: [resources.isIndexed],
  },
  job: { pk: within('JOB#.+'), sk: head, expires: true },
  export: { pk: within('EXPORT#[^#]+'), sk: head, expires: true },
  exportFile: {
    pk: within('EXPORT#(?<id>[^#]+)'),
    sk: /^FILE#/,
    expires: true,
    rules: [resources.exportHasParts],
  },
  exportNote: { pk: within('EXPORT#[^#]+'), sk: /^NOTE#/, expires: true },
  exporting: { pk: within('EXPORTING'), sk: head },
  cancelledRun: { pk: within('CANCELLED#.+'), sk: head, expires: true },
  running: { pk: within('RUNNING'), sk: head },
  subscription: { pk: within('SUBSCRIPTIONS'), sk: /^(?<id>.+)$/, rules: [ofType('Subscription')] },
  subscriptionSecrets: { pk: of('Subscription'), sk: /^SECRETS$/, rules: [bots.ownerStands] },
  delivery: { pk: within('DELIVERY#.+'), sk: head, expires: true, rules: [bots.deliveryWaits] },
  laneEntry: { pk: within('LANE#.+'), sk: any, expires: true, rules: [bots.laneLeads] },
  waitingLane: { pk: within('WAITING#.+'), sk: any, expires: true },
  delivering: { pk: within('DELIVERING#.+'), sk: head },
  attempt: { pk: within('ATTEMPTS#.+'), sk: any, expires: true },
  schedule: {
    pk: within('SCHEDULES'),
    sk: /^(?<id>.+)$/,
    rules: [ofType('Bot'), bots.scheduleIsDue],
  },
  evaluating: { pk: within('EVALUATING'), sk: head },
  origin: { pk: within('ORIGIN#.+'), sk: head, expires: true },
  runTree: { pk: within('RUN-TREE#.+'), sk: head, expires: true },
  botIdentifier: { pk: within('BOT-IDENTIFIER#.+'), sk: head, rules: [bots.identifierLeads] },
  person: { pk: within('PERSON#(?<login>.+)'), sk: head, rules: [people.personAgrees] },
  administrators: { pk: within('ADMINISTRATORS'), sk: head, rules: [people.administratorsAreCounted] },
  rate: { pk: within('RATE#.+'), sk: head, expires: true },
  complaint: { pk: within('COMPLAINT#.+'), sk: head },
  idempotency: { pk: within('IDEMPOTENCY#.+'), sk: head, expires: true },
  issuer: { pk: new RegExp(`^(?:${project}|STAGE#)ISSUERS$`), sk: any },
  subject: { pk: new RegExp(`^(?:${project})?SUBJECT#.+$`), sk: head, rules: [people.subjectLeads] },
  user: { pk: /^U#(?<id>[^#]+)$/, sk: head, rules: [people.userOwnsAddress] },
  password: { pk: /^U#(?<id>[^#]+)$/, sk: /^PASSWORD$/, rules: [people.userExists] },
  userSubject: {
    pk: /^U#(?<id>[^#]+)$/,
    sk: /^ISSUER#/,
    rules: [people.userExists, people.subjectIsLinked],
  },
  addressChange: { pk: /^U#(?<id>[^#]+)$/, sk: /^ADDRESS$/, expires: true, rules: [people.userExists] },
  mfa: { pk: /^U#(?<id>[^#]+)$/, sk: /^MFA$/, rules: [people.userExists, stage.factorHasKey] },
  userMembership: {
    pk: /^U#(?<id>[^#]+)$/,
    sk: /^M#(?<project>[^#]+)#(?<membershipId>[^#]+)$/,
    rules: [people.userExists, people.mirrorAgrees],
  },
  userLogin: { pk: /^U#(?<id>[^#]+)$/, sk: /^L#/, expires: true, rules: [people.userExists] },
  address: { pk: /^E#(?<email>.+)$/, sk: head, rules: [people.addressLeads] },
  client: { pk: /^C#(?<id>[^#]+)$/, sk: head, rules: [people.credentialStands] },
  assertion: { pk: /^ASSERTION#/, sk: head, expires: true },
  attempts: { pk: /^TRIES#/, sk: head, expires: true },
  sourceAttempts: { pk: /^SOURCE#/, sk: head, expires: true },
  login: { pk: /^L#[^#]+$/, sk: head, rules: [people.loginStands] },
  publicKeys: { pk: /^STAGE$/, sk: /^JWKS$/ },
  stageKey: { pk: /^STAGE$/, sk: /^KEY#(?<purpose>.+)$/, rules: [stage.keyIsWhole] },
  stageSecret: { pk: /^STAGE$/, sk: /^SECRET$/ },
  outbox: {
    pk: /^OUTBOX#\d+$/,
    sk: /^(?!RESET#|ADDRESS#|NOTICE#|FAILED#|EMERGENCY#)(?<project>[^#]+)#(?<membershipId>[^#]+)$/,
    expires: true,
    rules: [people.mailIsDue],
  },
  resetMail: { pk: /^OUTBOX#\d+$/, sk: /^RESET#/, expires: true },
  addressMail: { pk: /^OUTBOX#\d+$/, sk: /^ADDRESS#/, expires: true },
  noticeMail: { pk: /^OUTBOX#\d+$/, sk: /^NOTICE#/, expires: true },
  failureMail: { pk: /^OUTBOX#\d+$/, sk: /^FAILED#/, expires: true },
  emergencyMail: { pk: /^OUTBOX#\d+$/, sk: /^EMERGENCY#/, expires: true },
  mailQuota: { pk: /^MAIL#/, sk: head, expires: true },
  due: { pk: /^SCHEDULE#\d+$/, sk: any },
};

/** What lists something goes with it. */
function ofType(type: string): NonNullable<KeyRule['rules']>[number] {
  return (item, named, look) => bots.ownerStands(item, { ...named, type }, look);
}
