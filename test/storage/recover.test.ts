import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { JWK } from 'jose';
import { startTable } from '../../infra/local/table.ts';
import { prepareRestored } from '../../infra/recover/prepare-restored.ts';
import { publishedKeys, publishKeys } from '../../shared/carry/keys/signing-keys.ts';
import { type Key, keys, startKey } from '../../shared/carry/table/keys.ts';
import { scanPage } from '../../shared/carry/table/scan-page.ts';
import { openTable, type Table } from '../../shared/carry/table/table.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import {
  beginActions,
  deliveryKey,
  laneKey,
  newDelivery,
  type RecordDelivery,
} from '../../shared/records/subscriptions/delivery.ts';
import { createActions, pendingItem, updateActions } from '../../shared/store/items/change.ts';
import { inlineResource } from '../../shared/store/items/content.ts';
import { isLong } from '../setup/long.ts';
import { violationsIn } from '../setup/violations.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, newResource, person, type Stage, startStage } from './stage.ts';

const restored = 'restored';
const publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
let stage: Stage;
let table: Table;
beforeAll(async () => {
  stage = await startStage();
  await startTable({ endpoint: stage.endpoint, tableName: restored });
  table = openTable(stage.client, restored, () => stage.clock.nowMs);
});
afterAll(() => stage.stop());

const prepare = () =>
  prepareRestored({
    table,
    scan: (from) => scanPage(stage.client, restored, { from, limit: 50 }),
    lost: stage.services.table,
    atMs: stage.clock.nowMs,
    now: stage.services.now,
    newId: stage.services.newId,
  });

const membershipOf = async (caller: Caller, id: string) =>
  inlineResource(
    'ProjectMembership',
    await getItem({ table }, keys.resource(caller.project, 'ProjectMembership', id)),
  );

test('a restored table sends nothing old, lets nobody in and stops every Project; what was taken back stays so', async () => {
  const caller = await newProject(stage);
  const invite = async () => (await inviteUser(stage.services, caller, person())).id;
  const [pending, demoted] = [await invite(), await invite()];
  // Of the last second before the moment: what follows a write has not been done, and one was cut off.
  const patient = { resourceType: 'Patient' as const, id: 'late', name: [{ family: 'Before' }] };
  const meta = { lastUpdated: new Date(stage.clock.nowMs).toISOString(), project: caller.project };
  const { table: lost } = stage.services;
  await lost.transact(createActions(caller.project, { ...patient, meta: { ...meta, versionId: 'v1' } }));
  const later = { ...patient, name: [{ family: 'After' }], meta: { ...meta, versionId: 'v2' } };
  await lost.transact(
    updateActions(caller.project, later, { versionId: 'v1', resource: undefined }, { untidy: true }),
  );
  const cutOff = pendingItem(
    { project: caller.project, type: 'Patient', id: 'cut-off', versionId: 'v', parts: 0 },
    stage.clock.nowMs - 600_000,
  );
  await lost.write([cutOff]);
  const before = await scanAll(stage.client, stage.tableName);
  expect(before.filter(({ pk }) => pk.startsWith('OUTBOX#'))).toHaveLength(2);
  await table.write(before);
  const others = [
    ...[keys.resetMail('a@example.org', undefined), keys.addressMail('u'), keys.noticeMail('u', 'e', 'a')],
    ...[keys.failureMail('p', 's', 'm'), keys.emergencyMail('p', { membershipId: 'm', startedAtMs: 1 }, 't')],
    keys.addressChange('u'),
  ];
  await table.write(others.map((key) => ({ ...key })));

  const [administrator] = before.flatMap(({ pk, kind, profileType, invitation }) =>
    kind === undefined && profileType !== undefined && (invitation as { state: string }).state === 'accepted'
      ? [pk.split('#')[3] ?? '']
      : [],
  );
  await changeMember(stage.services, caller, { membershipId: demoted, body: { admin: true } });
  await stage.services.table.write([
    {
      ...keys.client(caller.clientId),
      project: caller.project,
      membershipId: caller.membershipId,
      secretHash: 'new',
    },
  ]);
  await removeMember(stage.services, caller, { membershipId: pending });

  const prepared = await prepare();
  expect(prepared).toMatchObject({
    ...{ loginsEnded: 1, invitationsEnded: 2, mailsDropped: 7, projectsPaused: 1 },
    ...{ credentialsKept: 1, membershipsEnded: 0 },
    open: [expect.stringContaining(demoted)],
  });
  const after = await scanAll(stage.client, restored);
  expect(after.filter(({ pk }) => pk.startsWith('OUTBOX#'))).toEqual([]);
  expect(await getItem({ table }, keys.addressChange('u'))).toBeUndefined();
  expect(after.filter(({ pk }) => pk.startsWith('L#')).map(({ revoked }) => revoked)).toEqual([true]);
  expect(await getItem({ table }, keys.client(caller.clientId))).toMatchObject({ secretHash: 'new' });
  expect(await getItem({ table }, keys.resource(caller.project, 'Project', caller.project))).toMatchObject({
    paused: true,
    emergencyEndedAtMs: stage.clock.nowMs,
  });
  expect(administrator && (await membershipOf(caller, administrator))).toMatchObject({ active: true });
  const checked = { ...stage, tableName: restored };
  expect(await violationsIn(checked)).toEqual([]);
  expect(await getItem({ table }, cutOff)).toBeUndefined();

  // Once more, as after a crash: nothing is left to do.
  expect(await prepare()).toMatchObject({
    ...{ loginsEnded: 0, invitationsEnded: 0, mailsDropped: 0, credentialsKept: 0, membershipsEnded: 0 },
  });
});

test('nothing of a restored table opens, runs or is told that was taken back, changed or done since', async () => {
  const caller = await newProject(stage, 'Since');
  const { project } = caller;
  const { table: lost, now, newId } = stage.services;
  const change = { project, type: 'Patient', id: 'p', interaction: 'create' as const };
  const [made, late] = ['a', 'b'].map((versionId) =>
    newDelivery(versionId, { ...change, version: { versionId, lastUpdated: '2026-01-31T11:00:00Z' } }),
  ) as [RecordDelivery, RecordDelivery];
  await lost.transact([made, late].flatMap((one) => beginActions(one, now())));
  const due = { project, botId: 'b', dueAt: '2026-01-31T11:00:00.000Z' };
  const start = { ...startKey(project, 'b', due.dueAt), ...due, jobId: 'j' };
  const ttl = Math.floor(now() / 1000) + 86_400;
  const [first, second] = ['first', 'second'].map((name) => keys.subject(project, 'i', name)) as [Key, Key];
  const people = Object.fromEntries(
    ['enrolled', 'moved', 'erased'].map((id) => [id, keys.user(`${id}-${project}`)]),
  );
  const [enrolled, moved, erased] = [people.enrolled, people.moved, people.erased] as [Key, Key, Key];
  const policy = await newResource(stage, project, { resourceType: 'AccessPolicy' });
  const bot = await newResource(stage, project, { resourceType: 'Bot' });
  const botKey = keys.resource(project, 'Bot', bot.split('/')[1] ?? '');
  const policyKey = keys.resource(project, 'AccessPolicy', policy.split('/')[1] ?? '');
  const issuers = ['gone', 'said', 'same'].map((id) => ({ ...keys.issuer(project, id), clientId: 'c' }));
  const lonely = keys.subject(project, 'j', 'lonely') as Key;
  const lonelyLink = keys.userSubject(moved.pk.slice(2), project, 'j');
  const clients = ['same', 'changed', 'deleted'].map((name) => `${name}-${project}`);
  for (const id of clients) {
    await newResource(stage, project, { resourceType: 'ClientApplication', id });
    const expiresAtMs = now() + 86_400_000;
    await lost.put({ ...keys.client(id), project, membershipId: 'none', secretHash: 'then', expiresAtMs });
  }
  await lost.write([
    { ...lonely, userId: moved.pk.slice(2) },
    { ...lonelyLink, subjectKey: lonely.pk },
    { ...keys.projectSecrets(project), secrets: ['then'] },
    ...[enrolled, moved, erased].map((key) => ({ ...key, email: key.pk })),
    ...issuers,
    { ...first, userId: enrolled.pk.slice(2) },
    { ...keys.userSubject(enrolled.pk.slice(2), project, 'i'), subjectKey: first.pk },
    { ...keys.botSecrets(project, 'b'), secrets: ['then'] },
    start,
    { ...keys.export(project, 'e'), status: 'completed', ttl },
    { ...keys.exportFile(project, 'e', 'Patient.1'), ttl },
    { ...keys.part(project, 'Export', 'e', 'f', 0), ttl },
    { ...keys.exportNote(project, 'e', 'bots', 'b'), ttl },
    { ...keys.exporting(project), exportId: 'e' },
  ]);
  const before = (await scanAll(stage.client, stage.tableName)).filter(
    ({ pk, sk }) => pk.includes(project) || sk.includes(project),
  );
  await table.write(before);

  const factor = { ...keys.mfa(enrolled.pk.slice(2)), seed: 'since' };
  const takenOff = keys.mfa(moved.pk.slice(2));
  await table.write([{ ...takenOff, seed: 'then' }]);
  const said = { ...keys.issuer(project, 'said'), clientId: 'since' };
  const link = { ...keys.userSubject(enrolled.pk.slice(2), project, 'i'), subjectKey: second.pk };
  const secrets = { ...keys.botSecrets(project, 'b'), secrets: ['since'] };
  const named = { ...second, userId: enrolled.pk.slice(2) };
  await lost.write(
    [factor, said, link, secrets, named, { ...moved, email: 'other' }, { ...takenOff, earlier: 1 }],
    [
      erased,
      first,
      keys.issuer(project, 'gone'),
      laneKey(made),
      lonely,
      lonelyLink,
      keys.projectSecrets(project),
    ],
  );
  await lost.write([], [keys.client(`deleted-${project}`)]);
  const set = (Key: Key, name: string, value: unknown) =>
    lost.update({
      Key,
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    });
  await set(deliveryKey(made), 'ended', 'done');
  await set(policyKey, 'versionId', newId());
  await lost.write([], [botKey]);
  await set(keys.resource(project, 'ClientApplication', `changed-${project}`), 'versionId', newId());
  await set(keys.resource(project, 'Project', project), 'fetchHosts', { allow: [] });
  await set(keys.resource(project, 'Project', project), 'paused', true);

  const prepared = await prepare();
  expect(prepared).toMatchObject({ exportsDropped: 1, deliveriesEnded: 1, deliveriesWaiting: 1 });
  expect(prepared.projects).toContain(`${project} Since`);
  const has = (name: RegExp) => expect.arrayContaining([expect.stringMatching(name)]);
  for (const name of [
    /^User\/moved.* has another address since/,
    /^User\/moved.* had a second factor taken off since, and has it again/,
    /^User\/erased.* was erased since/,
    /^AccessPolicy\/.* was changed since/,
    /^Bot\/.* was deleted since/,
    /^Project\/.* has had other settings since: .*fetchHosts/,
    /^Project\/.* was paused/,
  ])
    expect(prepared.open).toEqual(has(name));
  // Projects' own secrets and an account at an issuer that were taken off are gone.
  for (const key of [keys.projectSecrets(project), lonely, lonelyLink])
    expect(await getItem({ table }, key)).toBeUndefined();
  for (const [id, what] of [
    ['same', undefined],
    ['changed', 'changed'],
    ['deleted', 'deleted'],
  ] as const) {
    const told = prepared.open.filter((text) => text.startsWith(`ClientApplication/${id}-`));
    expect(told).toEqual(what ? [expect.stringContaining(`was ${what} since: it has expired`)] : []);
    const credential = await getItem({ table }, keys.client(`${id}-${project}`));
    expect(credential?.expiresAtMs).toBe(stage.clock.nowMs + (what ? 0 : 86_400_000));
  }
  for (const item of [factor, said, link, secrets, named])
    expect(await getItem({ table }, item)).toEqual(item);
  expect(await getItem({ table }, takenOff)).toMatchObject({ seed: 'then' });
  for (const key of [first, keys.issuer(project, 'gone'), laneKey(made), start])
    expect(await getItem({ table }, key)).toBeUndefined();
  expect(await getItem({ table }, keys.issuer(project, 'same'))).toBeDefined();
  expect(await getItem({ table }, deliveryKey(made))).toMatchObject({ ended: 'done' });
  // What waited then and waits still is made when the Project goes on.
  expect(await getItem({ table }, deliveryKey(late))).not.toHaveProperty('ended');
  expect(await getItem({ table }, keys.waitingLane(project, 'b', 'Patient#p'))).toBeDefined();
  const left = await scanAll(stage.client, restored);
  expect(left.filter(({ pk }) => /#EXPORT|#PART#Export/.test(pk))).toEqual([]);
  expect(await prepare()).toMatchObject({ credentialsKept: 0, exportsDropped: 0, deliveriesEnded: 0 });
});

test('a Project that was disabled since is disabled', async () => {
  const { project } = await newProject(stage, 'Ended');
  const key = keys.resource(project, 'Project', project);
  const head = await getItem(stage.services, key);
  await table.write(head ? [head] : []);
  await stage.services.table.update({
    Key: key,
    UpdateExpression: 'SET disabledAtMs = :now',
    ExpressionAttributeValues: { ':now': stage.clock.nowMs },
  });
  const { open } = await prepare();
  expect(open).toContain(`Project/${project} was disabled or deleted since: it is disabled`);
  expect(await getItem({ table }, key)).toMatchObject({ disabledAtMs: stage.clock.nowMs });
});

test('who was active then and was removed since is inactive; the last administrator is told of', async () => {
  const caller = await newProject(stage, 'Other');
  const before = await scanAll(stage.client, stage.tableName);
  await table.write(before);
  const own = keys.resource(caller.project, 'ProjectMembership', caller.membershipId);
  const ofAdmin = before.find(
    ({ pk, login }) => pk.startsWith(`P#${caller.project}#ProjectMembership#`) && login !== undefined,
  );
  const gone = [own, { pk: String(ofAdmin?.pk), sk: 'HEAD' }];
  for (const key of gone) {
    await stage.services.table.update({
      Key: key,
      UpdateExpression: 'SET deleted = :true',
      ExpressionAttributeValues: { ':true': true },
    });
  }
  const { membershipsEnded, open } = await prepare();
  expect(membershipsEnded).toBe(1);
  expect(await membershipOf(caller, caller.membershipId)).toMatchObject({ active: false });
  expect(open).toContainEqual(expect.stringMatching(/is the last administrator$/));
});

test('a signing key is replaced in two phases, and the retired one leaves when its last token is over', async () => {
  const { table: own, now } = stage.services;
  const hour = 3_600_000;
  const jwkOf = (kid: string): JWK => ({ kty: 'RSA', kid, ...publicKey });
  const [a, b] = [jwkOf('a'), jwkOf('b')];
  const seen = publishedKeys(own, now);
  const kids = async () => {
    stage.clock.nowMs += 60_000;
    return (await seen.list()).map(({ kid }) => kid);
  };
  const open = (...some: JWK[]) => publishKeys(own, some, { nowMs: now(), atMs: now() + hour });
  await open(a);
  expect(await kids()).toEqual(['a']);
  await open(a, b);
  expect(await kids()).toEqual(['a', 'b']);
  await open(b, a);
  expect(await kids()).toEqual(['a', 'b']);
  await open(b);
  // A function of the phase before is still there, and begins after one of the next.
  await open(b, a);
  await open(b);
  expect(await kids()).toEqual(['b', 'a']);
  expect(JSON.stringify(await seen.list())).not.toContain('leavesAtMs');
  expect(await seen.find('a')).toBeDefined();
  stage.clock.nowMs += hour;
  expect(await seen.find('a')).toBeUndefined();
  expect(await kids()).toEqual(['b']);
  await open(b);
  expect(JSON.stringify(await getItem({ table: own }, keys.publicKeys()))).not.toContain('"a"');
});

test(`npm run drill: ${isLong ? 'the whole procedure' : 'a table is put back'}, on stacks that run`, async () => {
  const told = await new Promise<string>((resolve, reject) =>
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'infra/local/drill/main.ts', ...(isLong ? [] : ['restore'])],
      { env: { ...process.env, NODE_OPTIONS: '', DYNAMODB_ENDPOINT: '' } },
      (error, stdout) => (error ? reject(new Error(stdout)) : resolve(stdout)),
    ),
  );
  expect(told.match(/^ok /gm)?.length).toBeGreaterThan(10);
  expect(told).not.toContain('FAILED');
}, 300_000);
