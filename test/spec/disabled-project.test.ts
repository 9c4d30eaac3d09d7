import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorRequest, ProvisionHandler } from '../../shared/identity/projects/requests.ts';
import { mailedLink } from './mailed-link.ts';
import { type Answer, isDeployed, type Portico, startPortico } from './portico.ts';
import { botThat, execute, projectOf } from './running.ts';
import { password, type SigningIn, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: SigningIn;
let provision: ProvisionHandler;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  if (!isDeployed) provision = await portico.local.load('provision');
});
afterAll(() => portico.stop());

const asClient = () => {
  const { clientId, clientSecret } = projectOf(portico, 0);
  const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  return at.ask(body);
};

/** A run of minutes that has begun. */
async function longRun(): Promise<string> {
  const bot = await botThat(
    portico,
    'await medplum.createResource({ resourceType: "Basic", code: { text: "begun" } }); for (;;) await new Promise((r) => setTimeout(r, 200))',
  );
  const answer = await execute(portico, bot, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
  await until(async () => {
    const { json } = await portico.api('GET', 'fhir/R4/Basic?code:text=begun');
    return json.entry?.length > 0 ? true : undefined;
  }, 'a run that has begun');
  return answer.headers.get('content-location') ?? '';
}

if (!isDeployed)
  test('a disabled Project ends all that goes on in it at once, and nothing elsewhere; enabled it is as it was', async () => {
    const project = projectOf(portico, 0).id;
    const member = await at.newMember();
    const { access_token, refresh_token } = await at.signIn(member.email, { remember: true });
    const machine = (await asClient()).json.access_token;
    const invited = `invited-${randomUUID()}@example.com`;
    await at.invite(invited);
    const link = await mailedLink(portico, invited);
    // A member of another Project as well, who is to go on there.
    const both = await at.newMember();
    const elsewhere = await at.invite(both.email, 1, { sendEmail: false });
    const { code } = (await at.login(member.email)).json;
    const job = await longRun();
    const otherToken = await portico.token(portico.projects[1]);
    const read = (token: string, path = 'fhir/R4/Patient') => portico.api('GET', path, { token });

    expect(await provision({ project, disabled: true })).toMatchObject({ project: { disabled: true } });

    for (const token of [access_token, machine]) {
      for (const path of ['fhir/R4/Patient', 'auth/me', `admin/projects/${project}`, 'oauth2/userinfo']) {
        const { status, json } = await read(token, path);
        expect([path, status, json.issue[0].code]).toEqual([path, 401, 'login']);
      }
    }
    const write = { resourceType: 'Patient' };
    expect((await portico.api('POST', 'fhir/R4/Patient', { token: machine, body: write })).status).toBe(401);
    const refusals: Answer[] = [
      await asClient(),
      await at.refresh(refresh_token),
      await at.exchange(code),
      await at.login(member.email),
      await at.post('auth/invitation', link),
      await at.post('auth/setpassword', { ...link, password }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual(Array.from(refusals, () => 400));
    const { json: chosen } = await at.login(both.email);
    expect(chosen.memberships.map(({ id }: { id: string }) => id)).toEqual([elsewhere.id]);
    const next = await at.post('auth/profile', { login: chosen.login, profile: elsewhere.id });
    const { access_token: there } = (await at.exchange(next.json.code)).json;
    expect((await at.me(there)).json.membership.id).toBe(elsewhere.id);
    expect((await read(otherToken)).status).toBe(200);
    // The run that goes on is ended, long before its time.
    await until(async () => {
      const jobs = await portico.local.scan('#JOB#');
      return jobs.some(({ status }) => status === 'error' || status === 'cancelled') ? true : undefined;
    }, 'the end of the run');

    // Whose token is good by its signature only leaves nothing, whatever they are refused for.
    const entries = async () => (await portico.local.scan(logOf)).length;
    const logOf = `P#${project}#AuditEvent#LOG`;
    const before = await entries();
    expect((await read(machine, 'fhir/R4/Nothing/1')).status).toBe(404);
    const entry = [{ request: { method: 'GET', url: 'Nothing/1' } }];
    const batch = { resourceType: 'Bundle', type: 'batch', entry };
    expect((await portico.api('POST', 'fhir/R4', { token: machine, body: batch })).status).toBe(401);
    expect(await entries()).toBe(before);

    expect(await provision({ project, disabled: false })).toMatchObject({ project: { disabled: false } });
    expect((await read(access_token, 'auth/me')).status).toBe(200);
    expect((await read(machine)).status).toBe(200);
    expect((await at.refresh(refresh_token)).status).toBe(200);
    expect((await at.post('auth/setpassword', { ...link, password })).status).toBe(200);
    expect((await portico.api('GET', job)).json.status).not.toBe('active');
    const audit = await portico.api('GET', 'fhir/R4/AuditEvent?subtype=provision');
    expect(audit.text).toContain('"type":"disabled","valueString":"true"');
  });

if (!isDeployed)
  test('what a Project is provisioned without is refused by its name, for its administrators too, until it has it again', async () => {
    const project = projectOf(portico, 0).id;
    const admin = `admin/projects/${project}`;
    const bot = await botThat(portico, 'return 1');
    const person = () => ({
      ...{ resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Other' },
      email: `${randomUUID()}@example.com`,
    });
    const { json: stored } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
    const pending = await portico.api('POST', `${admin}/invite`, { body: { ...person(), sendEmail: false } });
    const channel = { type: 'rest-hook', endpoint: 'https://example.org/hook' };
    const subscription = {
      ...{ resourceType: 'Subscription', reason: 'x', criteria: 'Patient', channel },
      status: 'requested',
    };
    const { json: standing } = await portico.api('POST', 'fhir/R4/Subscription', { body: subscription });
    const uses = {
      bots: [
        () => portico.api('POST', `${admin}/bot`, { body: { name: 'Another' } }),
        () =>
          portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { body: { code: 'exports.handler = () => 2' } }),
      ],
      cron: [
        () => portico.api('PUT', `fhir/R4/Bot/${bot}`, { body: { ...stored, cronString: '0 4 * * *' } }),
      ],
      subscriptions: [
        () => portico.api('POST', 'fhir/R4/Subscription', { body: subscription }),
        () =>
          portico.api('PUT', `fhir/R4/Subscription/${standing.id}`, {
            body: { ...standing, status: 'requested', reason: 'y' },
          }),
      ],
      email: [
        () => portico.api('POST', `${admin}/invite`, { body: person() }),
        () => portico.api('POST', `${admin}/members/${pending.json.id}/invitation`),
      ],
    };
    const all = Object.keys(uses);
    const seen = async () => (await portico.api('GET', admin)).json.features;
    expect(await seen()).toEqual(all);
    for (const [feature, calls] of Object.entries(uses)) {
      await provision({ project, featuresOff: [feature] } as OperatorRequest);
      expect(await seen()).toEqual(all.filter((one) => one !== feature));
      for (const call of calls) {
        const { status, json } = await call();
        expect([feature, status, json.issue[0].code]).toEqual([feature, 403, 'forbidden']);
        expect(json.issue[0].details.text).toContain(`its feature ${feature} is switched off`);
      }
      const run = await execute(portico, bot);
      if (feature !== 'bots') expect(run.text).toBe('1');
      else
        expect([run.status, JSON.parse(run.text).issue[0].details.text]).toEqual([400, 'Bots not enabled']);
    }
    // Without a mail people are invited, and a Subscription can be switched off.
    await provision({ project, featuresOff: ['email', 'subscriptions'] });
    const quiet = await portico.api('POST', `${admin}/invite`, { body: { ...person(), sendEmail: false } });
    const off = await portico.api('PUT', `fhir/R4/Subscription/${standing.id}`, {
      body: { ...standing, status: 'off' },
    });
    expect([quiet.status, off.status]).toEqual([200, 200]);
    await expect(provision({ project, featuresOff: ['fax'] } as unknown as OperatorRequest)).rejects.toThrow(
      'some of',
    );
    // Words that mean nothing are not passed over, and a denied deletion is none.
    for (const words of [{ delete: false }, { disbled: true }, { recover: 'a@b.example', disabled: true }]) {
      await expect(provision({ project, ...words } as unknown as OperatorRequest)).rejects.toThrow(
        /must be|does not go/,
      );
    }

    expect(await provision({ project, featuresOff: [] })).toMatchObject({ project: { featuresOff: [] } });
    for (const call of Object.values(uses).flat()) {
      const { status } = await call();
      expect([200, 201]).toContain(status);
    }
    const audited = await portico.api('GET', 'fhir/R4/AuditEvent?subtype=provision&_count=100');
    expect(audited.text).toContain('{"type":"featuresOff","valueString":"subscriptions,email"}');
    expect(audited.text).toContain('{"type":"featuresOff","valueString":"none"}');
  });
