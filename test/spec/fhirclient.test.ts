import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { type SmartApp, signInThere, startSmartApp } from './smart-app.ts';

let portico: Portico;
let at: SigningIn;
let app: SmartApp;
const patients: string[] = [];

beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  app = await startSmartApp(portico);
  for (const given of ['Ann', 'Bea']) {
    const body = { resourceType: 'Patient', name: [{ given: [given], family: 'Kid' }] };
    const { json } = await portico.api('POST', 'fhir/R4/Patient', { body });
    patients.push(`Patient/${json.id}`);
    const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
    const subject = { reference: `Patient/${json.id}` };
    await portico.api('POST', 'fhir/R4/Observation', { body: { ...observation, subject } });
  }
});
afterAll(async () => {
  await app.stop();
  await portico.stop();
});

const scope = 'openid fhirUser offline_access launch/patient patient/*.rs';

async function newClient(fields: object): Promise<{ id: string; secret?: string }> {
  const path = `admin/projects/${projectOf(portico, 0).id}/client`;
  const body = { name: 'SMART app', redirectUris: [app.redirectUri], ...fields };
  return (await portico.api('POST', path, { body })).json;
}

/** The way of a person through the app; the client that the app then has. */
async function launched(email: string, pick?: string) {
  const sent = await fetch(app.launchUrl, { redirect: 'manual' });
  const back = await signInThere(at, sent.headers.get('location') ?? '', email, pick);
  expect((await fetch(back)).status).toBe(200);
  return app.client();
}

describe('fhirclient, unmodified', () => {
  test('signs a relative in to a public app, for the patient that they pick, and refreshes', async () => {
    const { id } = await newClient({ public: true });
    app.use({ clientId: id, scope });
    const { email } = await at.newMember({
      resourceType: 'RelatedPerson',
      patient: patients.map((reference) => ({ reference })),
    });
    const client = await launched(email, patients[1]);
    expect(`Patient/${client.patient.id}`).toBe(patients[1]);
    expect(await client.patient.read()).toMatchObject({ name: [{ given: ['Bea'] }] });
    expect(await client.user.read()).toMatchObject({ resourceType: 'RelatedPerson' });
    const found = await client.request('Observation', { flat: true });
    expect(found).toMatchObject([{ subject: { reference: patients[1] } }]);
    await expect(client.request(String(patients[0]))).rejects.toThrow(/403|Forbidden/i);
    const before = client.getState('tokenResponse.refresh_token');
    await client.refresh();
    expect(client.getState('tokenResponse.refresh_token')).not.toBe(before);
    expect(`Patient/${client.getState('tokenResponse.patient')}`).toBe(patients[1]);
    expect(await client.patient.read()).toMatchObject({ name: [{ given: ['Bea'] }] });
  });

  test('signs a clinician in to an app with a secret, who has no patient in context', async () => {
    const { id, secret } = await newClient({});
    app.use({
      clientId: id,
      clientSecret: String(secret),
      scope: 'openid fhirUser launch/patient user/*.rs offline_access',
    });
    const client = await launched((await at.newMember()).email);
    expect(client.patient.id).toBeNull();
    expect(client.getState('tokenResponse.scope')).toBe('openid fhirUser user/*.rs offline_access');
    expect(await client.user.read()).toMatchObject({ resourceType: 'Practitioner' });
    await client.refresh();
    expect(await client.request('Patient?_count=1')).toMatchObject({ resourceType: 'Bundle' });
  });

  test('signs a patient in to an app that signs its requests', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const key = { kid: 'es', alg: 'ES384', key_ops: ['verify'] };
    const { id } = await newClient({ jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), ...key }] } });
    const clientPrivateJwk = { ...privateKey.export({ format: 'jwk' }), ...key, key_ops: ['sign'] };
    app.use({ clientId: id, clientPrivateJwk, scope });
    const client = await launched((await at.newMember({ resourceType: 'Patient' })).email);
    expect(await client.patient.read()).toMatchObject({ resourceType: 'Patient', id: client.patient.id });
  });

  test('is told why when it asks for a launch from an EHR', async () => {
    const { id } = await newClient({ public: true });
    app.use({ clientId: id, scope: 'launch openid' });
    const sent = await fetch(app.launchUrl, { redirect: 'manual' });
    const refused = await fetch(sent.headers.get('location') ?? '', { redirect: 'manual' });
    await fetch(refused.headers.get('location') ?? '');
    await expect(app.client()).rejects.toThrow(/scope launch is of a launch from an EHR/);
  });
});
