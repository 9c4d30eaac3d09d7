import { randomUUID } from 'node:crypto';
import { Refusal } from '../../shared/base/refusal.ts';
import type { Reference, Resource } from '../../shared/base/resource.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import type { DeployServices } from '../../shared/bots/run/services.ts';
import type { Services } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { Found, type Table } from '../../shared/carry/table/table.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { acceptActions } from '../../shared/identity/invitations/accept.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { standingOf, stateOf } from '../../shared/identity/invitations/state.ts';
import { changeClient, rotateSecret } from '../../shared/identity/memberships/change-client.ts';
import { resendInvitation, revokeInvitation } from '../../shared/identity/memberships/change-invitation.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import type { Write } from '../../shared/records/write/write.ts';
import { type ProjectMembership, policiesIn } from '../../shared/store/fhir/membership.ts';
import { inlineResource, packText, unpackText } from '../../shared/store/items/content.ts';
import fc from '../setup/fast-check.ts';
import { scanAll } from '../storage/scan-all.ts';
import { getItem, type Stage } from '../storage/stage.ts';
import { parameters, policyEntry, reachOf } from './reach.ts';
import { startWalk } from './walk.ts';

/**
 * A Project of its own with three administrators under policies, things of its root that hold more, and what each could
 * reach at first.
 */
export interface RightsWalk {
  services: DeployServices;
  root: Caller<'administrator'>;
  /** Who administers under a policy: those of the start, and programs that they make. */
  narrowed: Caller<'administrator'>[];
  /** Ids of memberships that they act as or through. */
  theirs: Set<string>;
  /** Ids of all memberships of the walk. */
  members: string[];
  clients: string[];
  bots: string[];
  policies: Reference[];
  /** That one of them may give. */
  mayGrant: Reference;
  /** Memberships and policies as they were at the start, and what the three could reach together. */
  before: Found;
  together: ReadonlySet<string>;
  emails: string[];
  /** Membership of somebody who lives in the Project alone: the third address. */
  person: string;
  /** What was worked out before. */
  known: Map<string, Promise<Set<string>>>;
  end(): Promise<void>;
}

/** Policies that a walk begins with: of the three, of others, and the one to be given. */
export const beginnings = fc.record({
  policies: fc.array(fc.array(policyEntry, { minLength: 1, maxLength: 3 }), { minLength: 7, maxLength: 7 }),
  parameters: fc.array(parameters, { minLength: 3, maxLength: 3 }),
  writes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
});
type Beginning = typeof beginnings extends fc.Arbitrary<infer T> ? T : never;

const administering = ['AccessPolicy', 'Bot', 'ClientApplication'].map((resourceType) => ({ resourceType }));

/** Whether code is sound is nobody's right. */
const invoker: DeployServices['invoker'] = {
  compile: async ({ source: text }) => ({
    kind: 'result',
    result: { kind: 'compiled', format: 'cjs', text },
  }),
  async invoke() {
    const outcome = { kind: 'returned', value: { type: 'undefined' } } as const;
    return { kind: 'result', result: { outcome, log: [], logTruncated: false, durationMs: 1 } };
  },
};

/** What all walks begin with but for what policies say: a Project, and who and what there is. */
export async function newRightsStart(stage: Stage): Promise<{ items: Item[]; walk: RightsWalk }> {
  const services: DeployServices = { ...stage.services, invoker };
  const admin = { email: address(), firstName: 'Ada', lastName: 'Min' };
  const made = await provision(services, { name: 'Clinic', admin, client: true, invitesPerHour: 1_000_000 });
  const root = await callerFor(services, made.project.id, String(made.client?.id));
  const policies: Reference[] = [];
  for (let i = 0; i < 7; i++)
    policies.push(
      await writePolicy(services, root, { kind: 'create', resource: [{ resourceType: 'Task' }] }),
    );
  const walk: RightsWalk = {
    ...{ services, root, narrowed: [], theirs: new Set(), members: [], clients: [], bots: [], policies },
    ...{ mayGrant: policies[6] as Reference, together: new Set<string>(), before: new Found(new Map()) },
    ...{ emails: [address(), address(), address()], person: '', known: new Map() },
    end: async () => undefined,
  };
  for (const policy of policies.slice(0, 3))
    await newClient(walk, root, { admin: true, access: [{ policy }] });
  const [first = root] = walk.narrowed;
  const { membershipId } = first;
  await changeMember(services, root, { membershipId, body: { mayGrant: [walk.mayGrant] } });
  await newClient(walk, root, {});
  await newClient(walk, root, { accessPolicy: policies[3] });
  for (const rights of [{}, { accessPolicy: policies[4] }]) await newBot(walk, root, rights);
  await accept(walk, await newMember(walk, root, { email: walk.emails[0] }));
  await accept(walk, await newMember(walk, root, { accessPolicy: policies[5] }));
  await newMember(walk, root, { email: walk.emails[1] });
  const sent = await accept(walk, await newMember(walk, root, {}));
  await changeMember(services, root, { membershipId: sent, body: { active: false } });
  await revokeInvitation(services, root, { membershipId: await newMember(walk, root, {}) });
  walk.person = await accept(walk, await newMember(walk, root, { scope: 'project', email: walk.emails[2] }));
  // Index, log and versions say nothing of rights, and are most of it.
  const isSaying = ({ pk, sk }: Item) => !/#(IX|AuditEvent)#/.test(pk) && !sk.startsWith('V#');
  return { items: (await scanAll(stage.client, stage.tableName)).filter(isSaying), walk };
}

/** A walk in a table of its own, whose policies are others each time. */
export async function startRightsWalk(
  { client }: Stage,
  { items, walk: start }: Awaited<ReturnType<typeof newRightsStart>>,
  beginning: Beginning,
): Promise<RightsWalk> {
  const { project } = start.root;
  const resources = new Map<string, (stored: Resource) => object>();
  for (const [i, entries] of beginning.policies.entries()) {
    const id = idOf(start.policies[i]);
    const resource = [...entries, ...(i < 3 && beginning.writes[i] ? administering : [])];
    resources.set(keys.resource(project, 'AccessPolicy', id).pk, (stored) => ({ ...stored, resource }));
  }
  for (const [i, { membershipId }] of start.narrowed.entries()) {
    const access = [{ policy: start.policies[i], parameter: beginning.parameters[i] }];
    const key = keys.resource(project, 'ProjectMembership', membershipId);
    resources.set(key.pk, (stored) => ({ ...stored, access }));
  }
  const begun = items.map((item) => {
    const rewrite = item.sk === keys.resource('', '', '').sk ? resources.get(item.pk) : undefined;
    if (!rewrite) return item;
    return { ...item, content: packText(JSON.stringify(rewrite(JSON.parse(unpackText(item.content))))) };
  });
  const { services: servicesWith, end } = await startWalk(client, { items: begun, projects: [] });
  const { members, clients, bots, policies, narrowed } = start;
  const walk: RightsWalk = {
    ...start,
    ...{ services: { ...start.services, ...servicesWith(), invoker }, end, known: new Map() },
    ...{ members: [...members], clients: [...clients], bots: [...bots], policies: [...policies] },
    ...{ narrowed: [...narrowed], theirs: new Set(narrowed.map(({ membershipId }) => membershipId)) },
  };
  const before = await readRights(walk);
  const reached = await Promise.all([...walk.theirs].map((id) => reachOfMember(walk, before, id)));
  return { ...walk, before, together: new Set(reached.flatMap((reach) => [...reach])) };
}

export const idOf = (policy: Reference | undefined) => String(policy?.reference.split('/')[1]);
const address = () => `person-${randomUUID()}@example.com`;

async function callerFor(services: Services, project: string, clientId: string) {
  const membershipId = String((await getItem(services, keys.client(clientId)))?.membershipId);
  const loginId = randomUUID();
  const login = { kind: 'client', createdAtMs: services.now(), membershipId };
  await services.table.put({ ...keys.login(loginId), ...login });
  const profile = `ClientApplication/${clientId}`;
  const subject = clientId;
  return callerOf(
    { loginId, project, membershipId, profile, clientId, subject, scope: 'openid' },
    'administrator',
  );
}

type As = { services: DeployServices; caller: Caller<'administrator'> };

async function newClient(walk: RightsWalk, caller: As['caller'], rights: object, services = walk.services) {
  const { id } = await createClient(services, caller, { name: 'Key', ...rights });
  const made = await callerFor(walk.services, caller.project, id);
  walk.clients.push(id);
  walk.members.push(made.membershipId);
  if ('admin' in rights && rights.admin === true) walk.narrowed.push(made);
  return made.membershipId;
}

async function newBot(walk: RightsWalk, caller: As['caller'], rights: object, services = walk.services) {
  const { id } = await createBot(services, caller, { name: 'Bot', ...rights });
  walk.bots.push(id);
  const membershipId = await membershipOfBot(walk, id);
  walk.members.push(membershipId);
  return membershipId;
}

export async function membershipOfBot({ services, root }: RightsWalk, id: string): Promise<string> {
  return String((await getItem(services, keys.resource(root.project, 'Bot', id)))?.membershipId);
}

async function membershipOfClient({ services }: RightsWalk, id: string): Promise<string> {
  return String((await getItem(services, keys.client(id)))?.membershipId);
}

async function newMember(walk: RightsWalk, caller: As['caller'], body: object, services = walk.services) {
  const person = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', sendEmail: false };
  const whole = { ...person, newProfile: true, email: address(), ...body };
  const { id } = await inviteUser(services, caller, whole);
  if (!walk.members.includes(id)) walk.members.push(id);
  return id;
}

async function accept({ services, root }: RightsWalk, id: string): Promise<string> {
  const standing = standingOf(await getItem(services, keys.resource(root.project, 'ProjectMembership', id)));
  if (standing) await services.table.transact(acceptActions(services, standing));
  return id;
}

export async function writePolicy(
  services: Services,
  caller: Caller,
  { kind, id, resource }: { kind: 'create' | 'update'; id?: string; resource: readonly object[] },
): Promise<Reference> {
  const body = { resourceType: 'AccessPolicy', name: 'P', resource, ...(id ? { id } : {}) };
  const write: Write = { type: 'AccessPolicy', kind, body, ...(id ? { id } : {}) };
  const [outcome] = await carryOut(services, caller, [write]);
  return { reference: `AccessPolicy/${outcome?.id}` };
}

async function policyAt({ services, root }: RightsWalk, policy: Reference) {
  const key = keys.resource(root.project, 'AccessPolicy', idOf(policy));
  return inlineResource('AccessPolicy', await getItem(services, key));
}

/** All memberships and policies of the walk, in one read. */
async function readRights({ services, root, members, policies }: RightsWalk): Promise<Found> {
  return services.table.read([
    ...members.map((id) => keys.resource(root.project, 'ProjectMembership', id)),
    ...policies.map((policy) => keys.resource(root.project, 'AccessPolicy', idOf(policy))),
  ]);
}

function known(
  { known }: RightsWalk,
  ...[member, policies]: Parameters<typeof reachOf>
): Promise<Set<string>> {
  const { profile, patient, admin } = member;
  const name = JSON.stringify([profile.reference, patient, admin, policies]);
  const reach = known.get(name) ?? reachOf(member, policies);
  known.set(name, reach);
  return reach;
}

/** What a membership lets do: nothing where nobody can come to it. What one of them may give is passed over. */
async function reachOfMember(walk: RightsWalk, seen: Found, id: string): Promise<Set<string>> {
  const { project } = walk.root;
  const item = seen.get(keys.resource(project, 'ProjectMembership', id));
  const membership = inlineResource('ProjectMembership', item);
  const standing = standingOf(item);
  const state = standing && stateOf(standing.invitation, walk.services.now());
  const isAlive = membership?.active === true || state === 'pending';
  if (!membership || !isAlive) return new Set();
  const named = policiesIn(membership).map(({ kind, reference, parameters: values }) => {
    const isGiven = membership.admin !== true && reference === walk.mayGrant.reference;
    const key = keys.resource(project, 'AccessPolicy', idOf({ reference }));
    const policy = isGiven ? undefined : inlineResource('AccessPolicy', seen.get(key));
    return { kind, policies: policy ? [{ policy, parameters: values }] : [] };
  });
  const of = (wanted: string) => named.filter(({ kind }) => kind === wanted);
  const standingOnes = of('standing').length > 0 ? of('standing').flatMap((one) => one.policies) : undefined;
  const own = await known(walk, membership, standingOnes);
  return new Set([
    ...own,
    ...(await known(
      walk,
      membership,
      of('emergency').flatMap((one) => one.policies),
    )),
  ]);
}

/** What a policy lets several people do whose variables differ: what is done to it is done to them. */
function probesOf(walk: RightsWalk, seen: Found, reference: string): Promise<Set<string>[]> {
  const key = keys.resource(walk.root.project, 'AccessPolicy', idOf({ reference }));
  const policy = inlineResource('AccessPolicy', seen.get(key));
  const values = [[], [{ name: 'ward', valueString: 'Organization/7' }]];
  return Promise.all(
    ['Practitioner/g1', 'Practitioner/g2', 'Patient/p1'].flatMap((profile) =>
      values.map((value) =>
        known(
          walk,
          { profile: { reference: profile }, admin: true },
          policy ? [{ policy, parameters: value }] : [],
        ),
      ),
    ),
  );
}

/**
 * What has grown: somebody reaches what neither they nor the three could at first, one of the three acts through who
 * reaches more than they, a policy allows more to whoever has it, or more may be given.
 */
export async function grown(walk: RightsWalk): Promise<string[]> {
  const seen = await readRights(walk);
  const { before } = walk;
  const beyond = (reach: Iterable<string>, bound: ReadonlySet<string> = new Set()) =>
    [...reach].filter((one) => !walk.together.has(one) && !bound.has(one));
  const faults: string[] = [];
  for (const id of walk.members) {
    const isTheirs = walk.theirs.has(id);
    const had = isTheirs ? undefined : await reachOfMember(walk, before, id);
    const more = beyond(await reachOfMember(walk, seen, id), had);
    if (more.length > 0) faults.push(`${isTheirs ? 'theirs' : 'other'} ${id}: ${more.join(', ')}`);
    const key = keys.resource(walk.root.project, 'ProjectMembership', id);
    for (const { reference } of inlineResource('ProjectMembership', seen.get(key))?.mayGrant ?? []) {
      if (reference === walk.mayGrant.reference) continue;
      const given = (await probesOf(walk, seen, reference)).flatMap((reach) => beyond(reach));
      if (given.length > 0) faults.push(`may be given ${reference}: ${given.join(', ')}`);
    }
  }
  for (const { reference } of walk.policies) {
    const key = keys.resource(walk.root.project, 'AccessPolicy', idOf({ reference }));
    if (seen.get(key)?.versionId === before.get(key)?.versionId) continue;
    const had = await probesOf(walk, before, reference);
    const more = (await probesOf(walk, seen, reference)).flatMap((reach, i) => beyond(reach, had[i]));
    if (more.length > 0) faults.push(`${reference}: ${[...new Set(more)].join(', ')}`);
  }
  return faults;
}

/** What of an administrator's acts could give more; and what takes away. */
export const guarded = [
  ...(['self', 'member', 'invite', 'resend', 'client', 'rotate', 'prolong', 'bot', 'deploy'] as const),
  ...(['own keys', 'own bot', 'policy', 'change policy'] as const),
];
const harmless = ['revoke', 'remove', 'delete policy'] as const;

const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** One act of one of them. What is not used by its kind is passed over. */
export const acts = fc.record({
  kind: fc.constantFrom(
    ...guarded,
    'member' as const,
    'invite' as const,
    'change policy' as const,
    ...harmless,
  ),
  actor: fc.nat(20),
  target: fc.nat(50),
  policy: fc.option(fc.nat(13), { freq: 4 }),
  access: fc.option(fc.record({ policy: fc.nat(13), parameter: parameters }), { freq: 1 }),
  emergency: rarely(fc.nat(13)),
  mayGrant: rarely(fc.nat(13)),
  admin: fc.option(fc.boolean(), { nil: undefined }),
  active: rarely(fc.boolean()),
  upsert: fc.boolean(),
  email: fc.nat(4),
  entries: fc.array(policyEntry, { minLength: 1, maxLength: 2 }),
  edit: fc.constantFrom('replace', 'add', 'drop', 'hide'),
});
export type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never;

function oneOf<T>(all: readonly T[], n: number): T {
  return all[n % all.length] as T;
}

/**
 * Carries out an act. @param unguarded a kind of act that is carried out as if its actor were root: as it would be where
 * an operation forgets to ask
 * @returns whether it was done; undefined when it was refused
 */
export async function carryOutAct(
  walk: RightsWalk,
  act: Act,
  unguarded?: Act['kind'],
): Promise<true | undefined> {
  const caller = { ...oneOf(walk.narrowed, act.actor) };
  caller.admission = { ...caller.admission };
  const services =
    act.kind === unguarded
      ? { ...walk.services, table: withoutPolicies(walk, caller.membershipId) }
      : walk.services;
  try {
    const through = await done(walk, act, { services, caller });
    for (const id of through) walk.theirs.add(id);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** @returns ids of the memberships that the actor acts through by then */
async function done(walk: RightsWalk, act: Act, { services, caller }: As): Promise<string[]> {
  const own =
    walk.policies[walk.narrowed.findIndex(({ membershipId }) => membershipId === caller.membershipId)];
  // What is their own is what is not refused.
  const policy = (n: number) => (n < 8 && own ? own : oneOf(walk.policies, n));
  const rights = {
    ...(act.policy === null ? {} : { accessPolicy: policy(act.policy) }),
    ...(act.access === null
      ? {}
      : { access: [{ policy: policy(act.access.policy), parameter: act.access.parameter }] }),
    ...(act.admin === undefined ? {} : { admin: act.admin }),
  };
  const peoples = {
    ...(act.emergency === undefined ? {} : { emergencyPolicy: policy(act.emergency) }),
    ...(act.mayGrant === undefined ? {} : { mayGrant: [policy(act.mayGrant)] }),
  };
  const change = {
    ...{ accessPolicy: null, access: null, ...rights },
    ...(act.active === undefined ? {} : { active: act.active }),
  };
  const member = oneOf(walk.members, act.target);
  const bot = oneOf(walk.bots, act.target);
  const client = oneOf(walk.clients, act.target);
  const update = async (type: 'Bot' | 'ClientApplication', id: string, fields: object) => {
    const key = keys.resource(caller.project, type, id);
    const stored = inlineResource(type, await getItem(walk.services, key));
    const body = { ...stored, ...fields, resourceType: type, id };
    await carryOut(services, caller, [{ type, id, kind: 'update', body }]);
  };
  switch (act.kind) {
    case 'self':
      await changeMember(services, caller, {
        membershipId: caller.membershipId,
        body: { ...change, ...peoples },
      });
      return [];
    case 'member': {
      const key = keys.resource(caller.project, 'ProjectMembership', member);
      const isPerson = standingOf(await getItem(walk.services, key)) !== undefined;
      await changeMember(services, caller, {
        membershipId: member,
        body: { ...change, ...(isPerson ? peoples : {}) },
      });
      return [];
    }
    case 'invite': {
      const email = walk.emails[act.email] ?? address();
      const body = { ...rights, ...peoples, email, upsert: act.upsert };
      return [await newMember(walk, caller, body, services)];
    }
    case 'resend':
      await resendInvitation(services, caller, { membershipId: member });
      return [];
    case 'revoke':
      await revokeInvitation(services, caller, { membershipId: member });
      return [];
    case 'remove':
      // What is left are those who were there.
      if (walk.theirs.has(member)) return [];
      await removeMember(services, caller, { membershipId: member });
      return [];
    case 'client':
      return [await newClient(walk, caller, rights, services)];
    case 'rotate':
      await rotateSecret(services, caller, { clientId: client, receivedAtMs: Number.MAX_SAFE_INTEGER });
      return [await membershipOfClient(walk, client)];
    case 'prolong':
      await changeClient(services, caller, { clientId: client, body: { expires: '2027-01-01T00:00:00Z' } });
      return [await membershipOfClient(walk, client)];
    case 'bot':
      return [await newBot(walk, caller, { ...rights, admin: undefined }, services)];
    case 'deploy':
      await deployBot(services, caller, { botId: bot, body: { code: `// ${randomUUID()}` }, traceId: 't' });
      return [await membershipOfBot(walk, bot)];
    case 'own keys':
      await update('ClientApplication', client, { jwksUri: 'https://example.org/keys' });
      return [await membershipOfClient(walk, client)];
    case 'own bot':
      await update('Bot', bot, { description: randomUUID() });
      return [await membershipOfBot(walk, bot)];
    case 'policy':
      walk.policies.push(await writePolicy(services, caller, { kind: 'create', resource: act.entries }));
      return [];
    case 'change policy': {
      const changed = policy(act.target);
      const entries = ((await policyAt(walk, changed))?.resource ?? []) as object[];
      const resource = {
        replace: act.entries,
        add: [...entries, ...act.entries],
        drop: entries.slice(1),
        hide: entries.map((entry) => ({ ...entry, readonly: true })),
      }[act.edit];
      await writePolicy(services, caller, { kind: 'update', id: idOf(changed), resource });
      return [];
    }
    case 'delete policy':
      await carryOut(services, caller, [
        { type: 'AccessPolicy', id: idOf(policy(act.target)), kind: 'delete' },
      ]);
      return [];
  }
}

/** A table in which one membership, as it is read, names no policy. */
function withoutPolicies({ services, root }: RightsWalk, membershipId: string): Table {
  const key = keys.resource(root.project, 'ProjectMembership', membershipId);
  return {
    ...services.table,
    async read(wanted, attributes) {
      const found = await services.table.read(wanted, attributes);
      const item = found.get(key);
      const membership = inlineResource('ProjectMembership', item);
      if (!item || !membership) return found;
      const { accessPolicy: _, access: __, ...rest }: ProjectMembership = membership;
      const content = packText(JSON.stringify(rest));
      return found.with(new Found(new Map([[`${key.pk}\n${key.sk}`, { ...item, content }]])));
    },
  };
}
