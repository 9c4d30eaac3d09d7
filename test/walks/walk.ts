import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableDefinition } from '../../infra/table-definition.ts';
import { emptyMemory } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { openTable } from '../../shared/carry/table/table.ts';
import { type Claims, callerOf } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import type { LoginServices } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { chooseProfile } from '../../shared/identity/sign-in/sign-in-step.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { scanAll } from '../storage/scan-all.ts';
import { getItem } from '../storage/stage.ts';

/** The process that serves a command dies at its n-th call to DynamoDB: before it, or after, unheard. */
export interface Crash {
  call: number;
  when: 'before' | 'after';
}

export class Death extends Error {}
export class MailServiceDown extends Error {}

export type WalkServices = LoginServices & OutboxServices;

/** A table of its own with two Projects, their administrators, and a clock that the commands move. */
export interface Walk {
  client: DynamoDBDocumentClient;
  tableName: string;
  clock: { nowMs: number };
  /** What an operation is given; with a crash it does not survive. */
  services(crash?: Crash): WalkServices;
  projects: readonly WalkProject[];
  /** Every mail that the service took. */
  mails: Mail[];
  mail: { isDown: boolean };
  /** Memberships that somebody has tried to accept while they were pending. */
  accepting: Set<string>;
  end(): Promise<void>;
}

interface WalkProject {
  id: string;
  /** Its API key, which administers. */
  client: Claims;
  /** The person who administers from the start. */
  administrator: Claims;
  signedInAtMs: number;
  /** The memberships that are accepted at the start: theirs, and of two more administrators. */
  accepted: readonly string[];
}

const stageSecret = Buffer.alloc(32, 7);

/** What every walk starts from: two Projects, whose administrators are in. */
export interface Start {
  items: readonly Item[];
  projects: readonly WalkProject[];
}

export async function newStart(client: DynamoDBDocumentClient): Promise<Start> {
  const walk = await startWalk(client, { items: [], projects: [] });
  const projects = [await newProject(walk.services()), await newProject(walk.services())];
  return { projects, items: await scanAll(client, walk.tableName) };
}

export async function startWalk(client: DynamoDBDocumentClient, { items, projects }: Start): Promise<Walk> {
  const tableName = await newTable(client);
  const clock = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const mails: Mail[] = [];
  const mail = { isDown: false };
  const services = (crash?: Crash): WalkServices => ({
    table: openTable(crash ? dyingAt(client, crash) : client, tableName, () => clock.nowMs),
    publicKeys: { find: async () => undefined, list: async () => [] },
    memory: emptyMemory(),
    log: { info: () => undefined, error: () => undefined },
    accessLog: { write: () => undefined },
    baseUrl: 'https://portico.example',
    now: () => clock.nowMs,
    newId: randomUUID,
    keyRings: keyRingsOf(stageSecret),
    mailer: {
      async send(one) {
        if (mail.isDown) throw new MailServiceDown();
        mails.push(one);
      },
    },
  });
  await services().table.write(items);
  return {
    client,
    tableName,
    clock,
    services,
    projects,
    mails,
    mail,
    accepting: new Set(),
    async end() {
      await client.send(new DeleteTableCommand({ TableName: tableName }));
    },
  };
}

/** Without a stream: the engine's would slow it down with every record of any table. */
async function newTable(client: DynamoDBDocumentClient): Promise<string> {
  const { partitionKey, sortKey, billingMode } = tableDefinition;
  const TableName = `walk-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: billingMode,
      AttributeDefinitions: [partitionKey, sortKey].map(({ name, type }) => ({
        AttributeName: name,
        AttributeType: type,
      })),
      KeySchema: [
        { AttributeName: partitionKey.name, KeyType: 'HASH' },
        { AttributeName: sortKey.name, KeyType: 'RANGE' },
      ],
    }),
  );
  return TableName;
}

/** A client whose process is dead from the given call on. */
function dyingAt(client: DynamoDBDocumentClient, { call, when }: Crash): DynamoDBDocumentClient {
  let calls = 0;
  let isDead = false;
  const send = async (command: Parameters<DynamoDBDocumentClient['send']>[0]) => {
    calls += 1;
    const dies = calls === call;
    if (isDead || (dies && when === 'before')) {
      isDead = true;
      throw new Death();
    }
    const answer = await client.send(command);
    if (dies || isDead) {
      isDead = true;
      throw new Death();
    }
    return answer;
  };
  return { send } as unknown as DynamoDBDocumentClient;
}

/** Nobody has a password: hashing would take most of the time of a walk. */
async function newProject(services: WalkServices): Promise<WalkProject> {
  const email = `admin-${randomUUID()}@example.com`;
  const admin = { email, firstName: 'Ada', lastName: 'Min' };
  const made = await provision(services, { name: 'Clinic', admin, client: true, invitesPerHour: 1_000_000 });
  const { id: project } = made.project;
  const clientId = made.client?.id ?? '';
  const membershipId = String((await getItem(services, keys.client(clientId)))?.membershipId);
  const loginId = randomUUID();
  const createdAtMs = services.now();
  await services.table.put({ ...keys.login(loginId), kind: 'client', createdAtMs, membershipId });
  const profile = `ClientApplication/${clientId}`;
  const client = {
    loginId,
    project,
    membershipId,
    profile,
    clientId,
    subject: clientId,
    scope: 'openid',
  };
  const userId = String((await getItem(services, keys.address(email)))?.userId);
  const login = await newLogin(services, userId);
  await chooseProfile(services, { login, profile: made.admin.membershipId });
  const accepted = [made.admin.membershipId];
  for (const name of ['second', 'third']) {
    const body = { ...admin, resourceType: 'Practitioner', email: `${name}-${email}`, admin: true };
    const { id, user } = await inviteUser(services, callerOf(client, 'administrator'), body);
    const invited = (user as { reference: string }).reference.replace('User/', '');
    await chooseProfile(services, { login: await newLogin(services, invited), profile: id });
    accepted.push(id);
  }
  return {
    id: project,
    client,
    administrator: claimsOf(login, project, made.admin.membershipId, userId),
    signedInAtMs: createdAtMs,
    accepted,
  };
}

/** A sign-in of a person as `auth/login` leaves it: who it is is proven, nothing is chosen yet. */
export async function newLogin(
  services: Pick<WalkServices, 'table' | 'now'>,
  userId: string,
): Promise<string> {
  const loginId = randomUUID();
  const challenge = { clientId: '', scope: 'openid', codeChallenge: 'x', codeChallengeMethod: 'plain' };
  await services.table.put({
    ...keys.login(loginId),
    kind: 'person',
    subject: userId,
    ...challenge,
    createdAtMs: services.now(),
  });
  return loginId;
}

export function claimsOf(loginId: string, project: string, membershipId: string, subject: string): Claims {
  const profile = `Practitioner/${subject}`;
  return { loginId, project, membershipId, profile, clientId: '', subject, scope: 'openid' };
}
