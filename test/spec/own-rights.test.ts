import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, type TestPerson } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { botThat, createBot, createClient, execute, type TestClient } from './running.ts';
import { newAddress, password, signingIn } from './signing-in.ts';
import { newSubscription } from './subscribing.ts';

/**
 * Rights never grow: Tess administers under a policy that allows Tasks, and what it takes to administer by FHIR
 * writes. She tries each way to more, then does what is hers.
 */
let portico: Portico;
let tess: TestClient & { membership: string };
/** What she holds; what she does not; what she may give. */
let tasks: Reference;
let all: Reference;
let patients: Reference;
let readers: Reference;
let roots: {
  bot: string;
  version: string;
  client: string;
  app: string;
  /** Memberships, the last of which is a Patient of this Project alone. */
  member: string;
  /** Members by her own policy: one, and the address of the other and their membership, who need a second factor. */
  tasked: string;
  bound: TestPerson;
  /** Somebody who holds more. */
  more: TestPerson;
  left: string;
  invited: string;
  patient: string;
  /** A person who administers without a policy. */
  root: TestPerson;
};

type Reference = { reference: string };
type Fields = Record<string, unknown>;

const administering = ['AccessPolicy', 'Binary', 'Bot', 'ClientApplication', 'Subscription'];
const own = ['Task', ...administering].map((resourceType) => ({ resourceType }));

beforeAll(async () => {
  portico = await startPortico();
  tasks = await policyOf([{ resourceType: 'Task' }]);
  all = await policyOf([{ resourceType: '*' }]);
  patients = await policyOf([{ resourceType: 'Patient', criteria: 'Patient?_id=%patient.id' }]);
  readers = await policyOf([{ resourceType: 'Patient', readonly: true }]);
  tess = await administratorUnder(own, [patients, readers]);
  const bot = await botThat(portico, 'console.log("seen"); return event.input');
  const { json } = await api('GET', `fhir/R4/Bot/${bot}/$versions`);
  const left = (await newPerson(portico)).membershipId;
  await api('POST', admin(`members/${left}`), { active: false });
  roots = {
    bot,
    left,
    version: json.parameter[0].part[0].valueString,
    client: (await createClient(portico)).id,
    app: await signingIn(portico).newApp({ redirectUris: ['https://app.example.org/in'] }),
    member: (await newPerson(portico, { mfaRequired: true })).membershipId,
    tasked: (await newPerson(portico, { accessPolicy: tasks })).membershipId,
    bound: await newPerson(portico, { accessPolicy: tasks, mfaRequired: true }),
    more: await newPerson(portico),
    invited: (await api('POST', admin('invite'), someone())).json.id,
    patient: newAddress(),
    root: await newPerson(portico, { admin: true }),
  };
  const body = someone({ resourceType: 'Patient', scope: 'project', email: roots.patient, password });
  expect((await api('POST', admin('invite'), body)).status).toBe(200);
});
afterAll(() => portico.stop());

function api(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
  const type = Array.isArray(body) ? 'application/json-patch+json' : 'application/fhir+json';
  const isFhir = /^fhir\/R4\/[^$]*$/.test(path) && body !== undefined;
  const call: Call = {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
    ...(isFhir ? { headers: { 'content-type': type } } : {}),
  };
  return portico.api(method, path, call);
}

const byTess = (method: string, path: string, body?: unknown) => api(method, path, body, tess.token);
const admin = (path: string) => `admin/projects/${portico.projects[0]?.id}/${path}`;
const someone = (change: Fields = {}) => ({
  ...{ resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email: newAddress() },
  ...{ sendEmail: false, ...change },
});
const policy = (resource: Fields[], change: Fields = {}) => ({
  ...{ resourceType: 'AccessPolicy', name: `P ${randomUUID()}`, resource },
  ...change,
});

async function policyOf(resource: Fields[], token?: string): Promise<Reference> {
  const answer = await api('POST', 'fhir/R4/AccessPolicy', policy(resource), token);
  if (answer.status !== 201) throw new Error(answer.text);
  return { reference: `AccessPolicy/${answer.json.id}` };
}

/** A client that administers under a policy of these entries. */
async function administratorUnder(resource: Fields[], mayGrant?: Reference[], access?: Fields) {
  const held = await policyOf(resource);
  const rights = access ? { access: [{ policy: held, ...access }] } : { accessPolicy: held };
  const client = await createClient(portico, { admin: true, ...rights });
  const { json } = await api('GET', 'auth/me', undefined, client.token);
  const membership: string = json.membership.id;
  if (mayGrant) {
    const answer = await api('POST', admin(`members/${membership}`), { mayGrant });
    expect([answer.status, answer.json.mayGrant]).toEqual([200, mayGrant]);
  }
  return { ...client, membership, held };
}

/** An app within her rights, by which people of any rights sign in. */
async function newApp({
  redirectUri,
  redirectUris = ['https://app.example.org/in'],
}: Fields = {}): Promise<string> {
  const { json } = await api('POST', admin('client'), {
    ...{ name: 'App', accessPolicy: tasks, ...(redirectUri ? {} : { redirectUris }) },
  });
  if (redirectUri)
    await api('PATCH', `fhir/R4/ClientApplication/${json.id}`, [
      { op: 'add', path: '/redirectUri', value: redirectUri },
    ]);
  return json.id;
}

/** Changes a resource as she reads it. */
async function rewritten(path: string, change: Fields, method = 'PUT'): Promise<Answer> {
  const { json } = await byTess('GET', `fhir/R4/${path}`);
  return byTess(method, `fhir/R4/${path}`, { ...json, ...change });
}

const inBundle = (type: string, resource: { resourceType: string }, method = 'POST', id = '') =>
  byTess('POST', 'fhir/R4', {
    ...{ resourceType: 'Bundle', type },
    entry: [{ resource, request: { method, url: `${resource.resourceType}${id && `/${id}`}` } }],
  });

/** Invited as root; the membership's id. */
async function newRoot(change: Fields = {}): Promise<string> {
  const { status, text, json } = await api('POST', admin('invite'), someone({ admin: true, ...change }));
  if (status !== 200) throw new Error(text);
  return json.id;
}

const alsoPatient = (externalId: string) =>
  someone({
    resourceType: 'Patient',
    scope: 'project',
    forceNewMembership: true,
    externalId,
    accessPolicy: tasks,
  });

const wider = [...own, { resourceType: 'Patient' }];

/** What she tries. What she is refused names her policy. */
const attacks: Record<string, () => Promise<Answer>> = {
  'taking her policy off': () => byTess('POST', admin(`members/${tess.membership}`), { accessPolicy: null }),
  'another policy for herself': () =>
    byTess('POST', admin(`members/${tess.membership}`), { accessPolicy: all }),
  'one that she may give for herself': () =>
    byTess('POST', admin(`members/${tess.membership}`), { access: [{ policy: readers }] }),
  'one that she may give for herself, as she gives up to administer': () =>
    byTess('POST', admin(`members/${tess.membership}`), { admin: false, accessPolicy: readers }),
  'more that she may give': () =>
    byTess('POST', admin(`members/${tess.membership}`), { mayGrant: [patients, readers, all] }),
  'a member made administrator': () =>
    byTess('POST', admin(`members/${roots.member}`), { admin: true, accessPolicy: null }),
  'a policy for somebody else': () =>
    byTess('POST', admin(`members/${roots.tasked}`), {
      access: [{ policy: tasks }, { policy: all }],
    }),
  'no policy for somebody else': () =>
    byTess('POST', admin(`members/${roots.tasked}`), { accessPolicy: null }),
  'an administrator of whom she may give what they have': () =>
    byTess('POST', admin(`members/${roots.tasked}`), { admin: true, accessPolicy: readers }),
  'emergency access': () => byTess('POST', admin(`members/${roots.tasked}`), { emergencyPolicy: all }),
  'a member who was sent away': () => byTess('POST', admin(`members/${roots.left}`), { active: true }),
  'no second factor for somebody with more': () =>
    byTess('POST', admin(`members/${roots.member}`), { mfaRequired: false }),
  'another way in for somebody with more': () =>
    byTess('POST', admin(`members/${roots.member}`), {
      authentication: { issuer: 'https://id.example.org' },
    }),
  'root under a policy': () =>
    byTess('POST', admin(`members/${roots.root.membershipId}`), { accessPolicy: tasks }),
  'root no administrator any more': () =>
    byTess('POST', admin(`members/${roots.root.membershipId}`), { admin: false, accessPolicy: tasks }),
  'root deactivated': () => byTess('POST', admin(`members/${roots.root.membershipId}`), { active: false }),
  'root removed': () => byTess('DELETE', admin(`members/${roots.root.membershipId}`)),
  'root invited again with less': () =>
    byTess('POST', admin('invite'), someone({ email: roots.root.email, upsert: true, accessPolicy: tasks })),
  'a root invitation revoked': async () =>
    byTess('DELETE', admin(`members/${await newRoot({ email: newAddress() })}/invitation`)),
  'a root invitation removed': async () => byTess('DELETE', admin(`members/${await newRoot()}`)),
  'a root invitation with less': async () => {
    const email = newAddress();
    await newRoot({ email });
    return byTess('POST', admin('invite'), someone({ email, upsert: true, accessPolicy: tasks }));
  },
  'a root invitation replaced by one as a Patient': async () => {
    const email = newAddress();
    await newRoot({ email });
    const body = { resourceType: 'Patient', email, upsert: true, accessPolicy: tasks };
    return byTess('POST', admin('invite'), someone(body));
  },
  'a root who was deactivated, removed': async () => {
    const { membershipId } = await newPerson(portico, { admin: true });
    await api('POST', admin(`members/${membershipId}`), { active: false });
    return byTess('DELETE', admin(`members/${membershipId}`));
  },
  'an address for a person of the Project who has none': async () => {
    const externalId = randomUUID();
    await newRoot({ externalId, email: undefined, scope: 'project' });
    return byTess('POST', admin('invite'), alsoPatient(externalId));
  },
  'another address for a person of the Project': async () => {
    const externalId = randomUUID();
    await newRoot({ externalId, scope: 'project' });
    return byTess('POST', admin('invite'), alsoPatient(externalId));
  },
  'a link of a person who holds no more, at another address': async () => {
    const externalId = randomUUID();
    const body = someone({ externalId, scope: 'project', accessPolicy: tasks });
    await api('POST', admin('invite'), body);
    const again = { ...body, email: newAddress(), upsert: true, mfaRequired: true };
    return byTess('POST', admin('invite'), again);
  },
  'an account of which the password is known': () =>
    byTess('POST', admin('invite'), someone({ scope: 'project', accessPolicy: tasks, password })),
  'the password of somebody who has left': async () => {
    const email = newAddress();
    const { json } = await api('POST', admin('invite'), someone({ email, scope: 'project', password }));
    await api('DELETE', admin(`members/${json.id}`));
    return byTess('POST', admin('setpassword'), { email, password: 'another long password' });
  },
  'an administrator without a policy': () => byTess('POST', admin('invite'), someone({ admin: true })),
  'an invite without a policy': () => byTess('POST', admin('invite'), someone()),
  'an invite of a Patient without a policy': () =>
    byTess('POST', admin('invite'), someone({ resourceType: 'Patient' })),
  'an invite with access': () => byTess('POST', admin('invite'), someone({ access: [{ policy: all }] })),
  'an invite with a policy inside membership': () =>
    byTess('POST', admin('invite'), someone({ membership: { accessPolicy: all } })),
  'an invite for emergencies': () =>
    byTess('POST', admin('invite'), someone({ accessPolicy: tasks, emergencyPolicy: all })),
  'an invite of somebody who may give more': () =>
    byTess('POST', admin('invite'), someone({ admin: true, accessPolicy: tasks, mayGrant: [all] })),
  'an upsert of a member': async () => {
    const email = newAddress();
    await api('POST', admin('invite'), someone({ email, accessPolicy: tasks }));
    return byTess('POST', admin('invite'), someone({ email, upsert: true, access: [{ policy: all }] }));
  },
  'an invitation sent again': () => byTess('POST', admin(`members/${roots.invited}/invitation`)),
  'the password of an account': () =>
    byTess('POST', admin('setpassword'), { email: roots.patient, password: 'another long password' }),
  'a new unrestricted key': () => byTess('POST', admin('client'), { name: 'Key' }),
  'a new administering key': () => byTess('POST', admin('client'), { name: 'Key', admin: true }),
  'an unrestricted key rotated': () => byTess('POST', admin(`client/${roots.client}/secret`)),
  'an unrestricted key that never expires': () =>
    byTess('POST', admin(`client/${roots.client}`), { expires: null }),
  'a client with keys of hers': () =>
    rewritten(`ClientApplication/${roots.client}`, { jwksUri: 'https://tess.example.org/keys' }),
  'an app that people sign in by': () =>
    byTess('POST', admin('client'), {
      ...{ name: 'App', accessPolicy: tasks, redirectUris: ['https://tess.example.org/in'] },
    }),
  'a key of hers that becomes an app': async () => {
    const { json } = await byTess('POST', admin('client'), { name: 'Key', accessPolicy: tasks });
    expect(json.secret).toBeDefined();
    return rewritten(`ClientApplication/${json.id}`, { redirectUris: ['https://tess.example.org/in'] });
  },
  'an app that people sign in by, sent to her': () =>
    rewritten(`ClientApplication/${roots.app}`, { redirectUris: ['https://tess.example.org/in'] }),
  'an app that holds no more, sent to her by its older field': async () =>
    rewritten(`ClientApplication/${await newApp()}`, { redirectUri: 'https://tess.example.org/in' }),
  'an app of the older field, sent to her': async () =>
    rewritten(
      `ClientApplication/${await newApp({ redirectUris: null, redirectUri: 'https://app.example.org/in' })}`,
      {
        redirectUris: ['https://tess.example.org/in'],
      },
    ),
  'a page of hers after signing out': async () =>
    rewritten(`ClientApplication/${await newApp()}`, {
      postLogoutRedirectUris: ['https://tess.example.org/'],
    }),
  'the secret of an app that holds no more': async () =>
    byTess('POST', admin(`client/${await newApp()}/secret`)),
  'a new Bot': () => byTess('POST', admin('bot'), { name: 'Reader' }),
  'code for a Bot': () =>
    byTess('POST', `fhir/R4/Bot/${roots.bot}/$deploy`, { code: 'exports.handler = () => 1;' }),
  'a version of a Bot': () =>
    byTess('POST', `fhir/R4/Bot/${roots.bot}/$rollback`, { version: roots.version }),
  'code for a Bot that Subscriptions bring more': async () => {
    const { token } = await createClient(portico, { admin: true });
    const bot = await createBot(portico, { accessPolicy: tasks });
    const subscription = newSubscription(`Bot/${bot}`, 'Patient');
    expect((await api('POST', 'fhir/R4/Subscription', subscription, token)).status).toBe(201);
    return byTess('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => 1;' });
  },
  'secrets of a Bot': () =>
    byTess('POST', admin(`bot/${roots.bot}/secrets`), [{ name: 'A', valueString: 'b' }]),
  'secrets of the Project': () => byTess('POST', admin('secrets'), [{ name: 'A', valueString: 'b' }]),
  'what a Bot logs': () => byTess('GET', `fhir/R4/Bot/${roots.bot}/$logs`),
  'a Bot that acts for itself': () => rewritten(`Bot/${roots.bot}`, { runAsUser: true }),
  'a Bot deleted, whose identifier another one may take': () => byTess('DELETE', `fhir/R4/Bot/${roots.bot}`),
  'a Bot deleted by a search': () => byTess('DELETE', `fhir/R4/Bot?_id=${roots.bot}`),
  'a Bot deleted in a transaction': () =>
    byTess('POST', 'fhir/R4', {
      ...{ resourceType: 'Bundle', type: 'transaction' },
      entry: [{ request: { method: 'DELETE', url: `Bot/${roots.bot}` } }],
    }),
  'less for a Bot that holds more': async () => {
    const bot = await createBot(portico);
    const found = await api('GET', admin('members?profile-type=Bot&_count=1000'));
    const entries: { resource: { id: string; profile: Reference } }[] = found.json.entry;
    const its = entries.find(({ resource }) => resource.profile.reference === `Bot/${bot}`);
    return byTess('POST', admin(`members/${its?.resource.id}`), { accessPolicy: tasks });
  },
  'a policy that a Bot holds, with less in it': async () => {
    const held = await policyOf([{ resourceType: 'Patient' }]);
    await createBot(portico, { accessPolicy: held });
    return byTess('PUT', `fhir/R4/${held.reference}`, {
      ...policy([{ resourceType: 'Task' }]),
      id: held.reference.split('/')[1],
    });
  },
  'a policy that a Bot holds, deleted': async () =>
    byTess('DELETE', `fhir/R4/${(await policyOf([{ resourceType: 'Patient' }])).reference}`),
  'less for somebody who holds more': () =>
    byTess('POST', admin(`members/${roots.more.membershipId}`), { accessPolicy: tasks }),
  'less for somebody who holds more, by an invite': () =>
    byTess('POST', admin('invite'), someone({ email: roots.more.email, accessPolicy: tasks, upsert: true })),
  'a Bot whose policy is gone': async () => {
    const held = await policyOf([{ resourceType: 'Task' }]);
    const bot = await createBot(portico, { accessPolicy: held });
    await api('DELETE', `fhir/R4/${held.reference}`);
    return byTess('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => 1;' });
  },
  'a Bot whose policy grants nothing': async () => {
    const held = await policyOf([{ resourceType: 'Task', criteria: 'Task?owner=%ward' }]);
    const bot = await createBot(portico, { accessPolicy: held });
    return byTess('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => 1;' });
  },
  'a policy of hers made wider, which others may hold': async () => {
    const mine = policy([{ resourceType: 'Task', readonly: true }]);
    const { json } = await byTess('POST', 'fhir/R4/AccessPolicy', mine);
    const wider = { ...mine, id: json.id, resource: [{ resourceType: 'Task' }] };
    return byTess('PUT', `fhir/R4/AccessPolicy/${json.id}`, wider);
  },
  'a Bot of hers to which a Subscription is off': async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    const { token } = await createClient(portico, { admin: true });
    const off = { ...newSubscription(`Bot/${bot}`, 'Patient'), status: 'off' };
    expect((await api('POST', 'fhir/R4/Subscription', off, token)).status).toBe(201);
    return byTess('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => 1;' });
  },
  'what a Bot of hers logged that somebody else deployed': async () => {
    const like = await administratorUnder(own);
    const bot = await createBot(portico, { accessPolicy: tasks });
    const code = { code: 'exports.handler = () => console.log(1);' };
    expect((await api('POST', `fhir/R4/Bot/${bot}/$deploy`, code, like.token)).status).toBe(200);
    return byTess('GET', `fhir/R4/Bot/${bot}/$logs`);
  },
  'no second factor for somebody who is invited': async () => {
    const email = newAddress();
    await api('POST', admin('invite'), someone({ email, accessPolicy: tasks, mfaRequired: true }));
    return byTess(
      'POST',
      admin('invite'),
      someone({ email, accessPolicy: tasks, upsert: true, mfaRequired: false }),
    );
  },
  'a policy of others that is within hers': async () => {
    const { reference } = await policyOf([{ resourceType: 'Task' }]);
    const less = [{ resourceType: 'Task', readonly: true }];
    return byTess('PUT', `fhir/R4/${reference}`, policy(less, { id: reference.split('/')[1] }));
  },
  'a policy made again under the id of one of others': async () => {
    const { reference } = await policyOf([{ resourceType: 'Task' }]);
    await api('DELETE', `fhir/R4/${reference}`);
    return byTess(
      'PUT',
      `fhir/R4/${reference}`,
      policy([{ resourceType: 'Task' }], { id: reference.split('/')[1] }),
    );
  },
  'what a Bot of hers logged before she deployed it': async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    await api('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => console.log(1);' });
    return byTess('GET', `fhir/R4/Bot/${bot}/$logs`);
  },
  'what a run of others has returned, of a Bot of hers': async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    await api('POST', `fhir/R4/Bot/${bot}/$deploy`, { code: 'exports.handler = () => 1;' });
    const answer = await execute(portico, bot, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
    return byTess('GET', answer.headers.get('content-location')?.replace(`${portico.baseUrl}/`, '') ?? '');
  },
  'no second factor by an invite': () => {
    const change = { email: roots.bound.email, accessPolicy: tasks, upsert: true, mfaRequired: false };
    return byTess('POST', admin('invite'), someone(change));
  },
  'no second factor for somebody who holds no more': () =>
    byTess('POST', admin(`members/${roots.bound.membershipId}`), { mfaRequired: null }),
  'another way in for somebody who holds no more': async () => {
    await api('POST', admin(`members/${roots.tasked}`), { authentication: 'password' });
    return byTess('POST', admin(`members/${roots.tasked}`), { authentication: null });
  },
  'the schedule of a Bot': () => rewritten(`Bot/${roots.bot}`, { cronString: '* * * * *' }),
  'the source of a Bot, patched': () =>
    byTess('PATCH', `fhir/R4/Bot/${roots.bot}`, [{ op: 'add', path: '/description', value: 'x' }]),
  'the code that a Bot names': async () => {
    const { sourceCode } = (await byTess('GET', `fhir/R4/Bot/${roots.bot}`)).json;
    const id = sourceCode.url.replace('Binary/', '');
    return byTess('PUT', `fhir/R4/Binary/${id}`, {
      ...{ resourceType: 'Binary', id, contentType: 'text/typescript' },
      ...{ securityContext: { reference: `Bot/${roots.bot}` }, data: 'eA==' },
    });
  },
  'a policy': () => byTess('POST', 'fhir/R4/AccessPolicy', policy([{ resourceType: 'Patient' }])),
  'a policy of every type': () => byTess('POST', 'fhir/R4/AccessPolicy', policy([{ resourceType: '*' }])),
  'a policy in a batch': async () => {
    const { json, status } = await inBundle('batch', policy(wider));
    const [{ response }] = json.entry;
    return { status, headers: new Headers(), json, text: `${response.status} ${JSON.stringify(response)}` };
  },
  'a policy in a transaction': () => inBundle('transaction', policy(wider)),
  'her own policy, changed': async () => rewritten(await pathOfHers(), { resource: wider }),
  'her own policy, patched': async () =>
    byTess('PATCH', `fhir/R4/${await pathOfHers()}`, [
      { op: 'add', path: '/resource/-', value: { resourceType: 'Patient' } },
    ]),
  'her own policy, found by a search': async () =>
    byTess('PUT', `fhir/R4/AccessPolicy?_id=${(await pathOfHers()).split('/')[1]}`, policy(wider)),
  'a policy that was deleted': async () => {
    const { reference } = await policyOf([{ resourceType: 'Patient' }]);
    await api('DELETE', `fhir/R4/${reference}`);
    return byTess('PUT', `fhir/R4/${reference}`, policy(wider, { id: reference.split('/')[1] }));
  },
  'the mails and times of the Project': () =>
    byTess('POST', admin('').slice(0, -1), { emergencyMinutes: 480 }),
  'an issuer': () => byTess('POST', admin('issuers'), { issuer: 'https://id.example.org', clientId: 'x' }),
  'the hosts that Bots fetch from': () =>
    byTess('POST', admin('fetch-hosts'), { allow: ['tess.example.org'] }),
  'a record sent to Subscriptions': async () => {
    const { json } = await api('POST', 'fhir/R4/Patient', { resourceType: 'Patient' });
    return byTess('POST', `fhir/R4/Patient/${json.id}/$resend`);
  },
  'a delivery of somebody': async () => {
    const body = newSubscription('https://hooks.example.org/', 'Patient', { status: 'off' });
    const { json } = await api('POST', 'fhir/R4/Subscription', body);
    return byTess('POST', `fhir/R4/Subscription/${json.id}/$redeliver`, { delivery: '0'.repeat(40) });
  },
  'what a run has returned': async () => {
    const answer = await execute(portico, roots.bot, 'x', 'text/plain', {
      headers: { prefer: 'respond-async' },
    });
    return byTess('GET', answer.headers.get('content-location')?.replace(`${portico.baseUrl}/`, '') ?? '');
  },
};

const pathOfHers = async () =>
  (await api('GET', admin(`members/${tess.membership}`))).json.accessPolicy.reference;

describe('an administrator whose policy allows Tasks does not get', () => {
  test.each(Object.entries(attacks))('%s', async (_, act) => {
    const answer = await act();
    const isRefused = answer.status === 403 || /^403 /.test(answer.text);
    expect([isRefused, answer.text]).toEqual([true, expect.stringContaining('accessPolicy')]);
  });
});

describe('she does', () => {
  const ok = async (status: number, answering: Promise<Answer>) => {
    const answer = await answering;
    expect([answer.status, answer.text]).toEqual([status, answer.text]);
    return answer.json;
  };

  test('invite within her policy, and Patients by one that she may give', async () => {
    await ok(200, byTess('POST', admin('invite'), someone({ accessPolicy: tasks })));
    await ok(200, byTess('POST', admin('invite'), someone({ admin: true, accessPolicy: tasks })));
    const email = newAddress();
    const patient = someone({ resourceType: 'Patient', accessPolicy: patients, email, sendEmail: true });
    const { id } = await ok(200, byTess('POST', admin('invite'), patient));
    await ok(200, byTess('POST', admin(`members/${id}/invitation`)));
    const answer = await ok(
      200,
      byTess('POST', admin('invite/bulk'), [patient, someone(), someone({ accessPolicy: readers })]),
    );
    expect(answer.results.map(({ status }: { status: number }) => status)).toEqual([200, 403, 200]);
    const grants = await ok(
      200,
      byTess(
        'POST',
        admin('invite'),
        someone({ admin: true, accessPolicy: tasks, mayGrant: [readers, tasks] }),
      ),
    );
    expect(grants.mayGrant).toEqual([readers, tasks]);
  });

  test('is told of no record that she may not read, and binds none to anybody', async () => {
    const email = newAddress();
    const telecom = [{ system: 'email', value: email }];
    const record = await ok(201, api('POST', 'fhir/R4/Patient', { resourceType: 'Patient', telecom }));
    const reference = `Patient/${record.id}`;
    const invite = (change: Fields) =>
      byTess(
        'POST',
        admin('invite'),
        someone({ resourceType: 'Patient', accessPolicy: patients, ...change }),
      );
    for (const { status, text } of [
      await invite({ profile: { reference } }),
      await invite({ resourceType: 'RelatedPerson', patient: { reference }, relationship: undefined }),
    ]) {
      expect([status, text]).toEqual([400, expect.stringMatching(/does not (?:belong to project|exist)/)]);
    }
    const { id, profile } = await ok(200, invite({ email }));
    expect(profile.reference).not.toBe(reference);
    const change = { patient: { reference } };
    expect((await byTess('POST', admin(`members/${id}`), change)).status).toBe(400);
    // Who may read it is asked which of the two is meant.
    expect((await api('POST', admin('invite'), someone({ resourceType: 'Patient', email }))).status).toBe(
      409,
    );
  });

  test('gives by what she may give what is the holder’s own, and nobody else’s', async () => {
    const patient = await ok(201, api('POST', 'fhir/R4/Patient', { resourceType: 'Patient' }));
    const valueReference = { reference: `Patient/${patient.id}` };
    const access = [{ policy: patients, parameter: [{ name: 'patient', valueReference }] }];
    const invite = await byTess('POST', admin('invite'), someone({ access }));
    const client = await byTess('POST', admin('client'), { name: 'Key', access });
    expect([invite.status, client.status]).toEqual([403, 403]);
  });

  test('lets nobody back into a record that they had and that she may not read', async () => {
    const patient = someone({ resourceType: 'Patient', accessPolicy: patients });
    const before = await ok(200, api('POST', admin('invite'), patient));
    await ok(200, api('DELETE', admin(`members/${before.id}`)));
    const after = await ok(200, byTess('POST', admin('invite'), patient));
    expect(after.profile.reference).not.toBe(before.profile.reference);
    await ok(200, api('DELETE', admin(`members/${after.id}`)));
    const byRoot = await ok(200, api('POST', admin('invite'), patient));
    expect(byRoot.profile.reference).toBe(after.profile.reference);
  });

  test('take away from whoever has more, and end what they have', async () => {
    const { membershipId } = await newPerson(portico);
    const path = admin(`members/${membershipId}`);
    await ok(200, byTess('POST', path, { mfaRequired: true }));
    await ok(200, byTess('POST', path, { mfaRequired: true, active: false }));
    await ok(200, byTess('DELETE', path));
    await ok(200, byTess('DELETE', admin(`members/${roots.invited}/invitation`)));
    const like = await newPerson(portico, { admin: true, accessPolicy: all });
    await ok(200, byTess('DELETE', admin(`members/${like.membershipId}`)));
  });

  test('make and change keys and Bots that hold no more', async () => {
    const client = await ok(201, byTess('POST', admin('client'), { name: 'Key', accessPolicy: tasks }));
    await ok(200, byTess('POST', admin(`client/${client.id}/secret`)));
    await ok(200, byTess('POST', admin(`client/${client.id}`), { expires: null }));
    await ok(200, rewritten(`ClientApplication/${client.id}`, { description: 'For tasks' }));
    const bot = await ok(201, byTess('POST', admin('bot'), { name: 'Tasks', accessPolicy: tasks }));
    await ok(200, byTess('POST', `fhir/R4/Bot/${bot.id}/$deploy`, { code: 'exports.handler = () => 1;' }));
    await ok(200, byTess('POST', admin(`bot/${bot.id}/secrets`), [{ name: 'A', valueString: 'b' }]));
    await ok(200, byTess('GET', `fhir/R4/Bot/${bot.id}/$logs`));
    await ok(200, rewritten(`Bot/${bot.id}`, { runAsUser: true, cronString: '0 4 * * *' }));
  });

  test('deploy what is given the Bot’s own secrets, and not the Project’s', async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    const secret = (name: string) => [{ name, valueString: 'correct horse' }];
    await ok(200, api('POST', admin('secrets'), secret('OF_PROJECT')));
    await ok(200, byTess('POST', admin(`bot/${bot}/secrets`), secret('OF_BOT')));
    const code = { code: 'exports.handler = (_, event) => Object.keys(event.secrets).sort();' };
    for (const [token, names] of [
      [undefined, ['OF_BOT', 'OF_PROJECT']],
      [tess.token, ['OF_BOT']],
    ] as const) {
      await ok(200, api('POST', `fhir/R4/Bot/${bot}/$deploy`, code, token));
      expect((await execute(portico, bot, 'x')).json).toEqual(names);
    }
    await ok(200, api('POST', admin('secrets'), []));
  });

  test('read what a Bot has logged since she deployed it, and nothing before', async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    const logging = (text: string) => ({ code: `exports.handler = () => console.log('${text}');` });
    for (const [text, token] of [
      ['from before', undefined],
      ['from hers', tess.token],
    ] as const) {
      await ok(200, api('POST', `fhir/R4/Bot/${bot}/$deploy`, logging(text), token));
      await execute(portico, bot, 'x');
    }
    const { text } = await byTess('GET', `fhir/R4/Bot/${bot}/$logs`);
    expect([text.includes('from hers'), text.includes('from before')]).toEqual([true, false]);
    expect((await api('GET', `fhir/R4/Bot/${bot}/$logs`)).text).toContain('from before');
  });

  test('read nothing of a run that began before she deployed it, with the same code either', async () => {
    const bot = await createBot(portico, { accessPolicy: tasks });
    const code =
      "exports.handler = async () => { console.log('slow'); await new Promise((go) => setTimeout(go, 1500)); };";
    const deploy = () => ok(200, byTess('POST', `fhir/R4/Bot/${bot}/$deploy`, { code }));
    const logs = async () => (await byTess('GET', `fhir/R4/Bot/${bot}/$logs`)).text;
    await deploy();
    const running = execute(portico, bot, 'x');
    await new Promise((go) => setTimeout(go, 700));
    await deploy();
    expect((await running).status).toBe(200);
    expect(await logs()).not.toContain('slow');
    await execute(portico, bot, 'x');
    expect(await logs()).toContain('slow');
  });

  test('run Bots that hold more, and is not told what they log', async () => {
    const under = await administratorUnder([{ resourceType: 'Bot', interaction: ['execute'] }]);
    const bot = await botThat(portico, 'console.log("seen"); throw new Error("no");');
    const run = (token?: string) => execute(portico, bot, 'x', 'text/plain', token ? { token } : {});
    expect((await run()).text).toContain('seen');
    const { status, text } = await run(under.token);
    expect([status, text]).toEqual([400, expect.not.stringContaining('seen')]);
  });

  test('end what she began, and nothing that others did', async () => {
    const bot = await botThat(portico, 'return 1');
    const headers = { prefer: 'respond-async' };
    const begin = [
      (token?: string) => execute(portico, bot, 'x', 'text/plain', { headers, ...(token ? { token } : {}) }),
      (token?: string) =>
        portico.api('GET', 'fhir/R4/$export?_type=Task', { headers, ...(token ? { token } : {}) }),
    ];
    for (const [at, under] of [await administratorUnder([{ resourceType: 'Bot' }]), tess].entries()) {
      const placeOf = async (token?: string) => {
        const { status, headers } = await (begin[at] as (typeof begin)[number])(token);
        expect(status).toBe(202);
        return new URL(String(headers.get('content-location'))).pathname.slice(1);
      };
      const end = async (path: string, token?: string) =>
        (await api('DELETE', path, undefined, token)).status;
      const theirs = await placeOf();
      expect([await end(theirs, under.token), await end(theirs)]).toEqual([403, 202]);
      expect(await end(await placeOf(under.token), under.token)).toBe(202);
    }
  });

  test('write policies, and make less of her own', async () => {
    const mine = policy([{ resourceType: 'Task', criteria: 'Task?owner=%profile', readonly: true }]);
    const { id } = await ok(201, byTess('POST', 'fhir/R4/AccessPolicy', mine));
    await ok(
      200,
      byTess('PUT', `fhir/R4/AccessPolicy/${id}`, {
        ...{ ...mine, id },
        resource: [{ resourceType: 'Task', criteria: 'Task?owner=%profile&status=draft', readonly: true }],
      }),
    );
    const { reference } = await policyOf([{ resourceType: 'Patient' }, { resourceType: 'Observation' }]);
    const put = (...resource: Fields[]) =>
      byTess('PUT', `fhir/R4/${reference}`, policy(resource, { id: reference.split('/')[1] }));
    // Not even less: what is held by it may have more behind it than it still gives.
    expect((await put({ resourceType: 'Patient', hiddenFields: ['birthDate'] })).status).toBe(403);
    expect((await put({ resourceType: 'Task' })).status).toBe(403);
    expect((await byTess('DELETE', `fhir/R4/${reference}`)).status).toBe(403);
    await ok(200, byTess('DELETE', `fhir/R4/AccessPolicy/${id}`));
  });
});

describe('a variable', () => {
  const wards = [{ resourceType: 'Task', criteria: 'Task?owner=%ward' }];
  const ward = (name: string) => [{ name: 'ward', valueString: `Organization/${name}` }];

  test('is the same only where its value is', async () => {
    const ann = await administratorUnder([...wards, ...own.slice(1)], undefined, { parameter: ward('7') });
    const invite = (accessPolicy: Fields) => api('POST', admin('invite'), someone(accessPolicy), ann.token);
    const given = (parameter?: Fields[]) => invite({ access: [{ policy: ann.held, parameter }] });
    expect((await given(ward('7'))).status).toBe(200);
    expect((await given(ward('8'))).status).toBe(403);
    // Without a value the entry grants nothing.
    expect((await given()).status).toBe(200);
    const written = (criteria: string) => policyOf([{ resourceType: 'Task', criteria }]);
    expect((await invite({ accessPolicy: await written('Task?owner=Organization/7') })).status).toBe(200);
    expect(
      (await invite({ accessPolicy: await written('Task?status=draft&owner=Organization/7') })).status,
    ).toBe(200);
    expect(
      (await invite({ accessPolicy: await written('Task?owner=Organization/7,Organization/8') })).status,
    ).toBe(403);
    // Whoever has the policy has wards of their own.
    const write = (resource: Fields[]) => api('POST', 'fhir/R4/AccessPolicy', policy(resource), ann.token);
    expect((await write(wards)).status).toBe(403);
    expect(
      (await write([{ resourceType: 'Task', criteria: 'Task?owner=Organization/7&code=%x' }])).status,
    ).toBe(201);
  });

  test('of a profile is nobody else’s', async () => {
    const criteria = 'Task?owner=%profile';
    const bea = await administratorUnder([{ resourceType: 'Task', criteria }]);
    const accessPolicy = bea.held;
    expect((await api('POST', admin('invite'), someone({ accessPolicy }), bea.token)).status).toBe(403);
  });
});

test('a token of hers with scopes for resources administers nothing at all', async () => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'system/*.cruds' });
  const { json } = await portico.api('POST', 'oauth2/token', {
    token: null,
    body: `${body}&client_id=${tess.id}&client_secret=${tess.secret}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const call = { body: someone({ accessPolicy: tasks }), token: json.access_token };
  expect((await portico.api('POST', admin('invite'), call)).status).toBe(403);
});
