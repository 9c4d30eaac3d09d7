import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
const { fhir } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const validated = async (body: { resourceType: string; [element: string]: unknown }) => {
  const { json } = await fhir('POST', `${body.resourceType}/$validate`, { body });
  return (json.issue as { severity: string; expression?: string[] }[])
    .filter(({ severity }) => severity === 'error')
    .map(({ expression = [] }) => expression[0]);
};

const clinical = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
const subject = { reference: 'Patient/x' };
const condition = (clinicalStatus: object) => ({ resourceType: 'Condition', subject, clinicalStatus });

describe('codes of required bindings', () => {
  test('that R4 does not know are 422, and the value set is named', async () => {
    const answer = await fhir('POST', 'Patient', { body: { resourceType: 'Patient', gender: 'zzz' } });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([422, ['Patient.gender']]);
    expect(answer.json.issue[0].details.text).toContain(
      'administrative-gender: male, female, other, unknown',
    );
    const put = await fhir('PUT', 'Patient/p', { body: { resourceType: 'Patient', id: 'p', gender: 'zzz' } });
    expect(put.status).toBe(422);
  });

  test.each([
    [
      'a list',
      { resourceType: 'Patient', telecom: [{ system: 'phone' }, { system: 'pigeon', value: '1' }] },
      'Patient.telecom[1].system',
    ],
    [
      'a part',
      { resourceType: 'Patient', contact: [{ name: { text: 'M' }, gender: 'x' }] },
      'Patient.contact[0].gender',
    ],
    [
      'a contained resource',
      {
        resourceType: 'Basic',
        code: { text: 'x' },
        contained: [{ resourceType: 'Patient', id: 'p', gender: 'x' }],
      },
      'Basic.contained[0].gender',
    ],
    [
      'an entry of a Bundle',
      {
        resourceType: 'Bundle',
        type: 'collection',
        entry: [{ resource: { resourceType: 'Patient', gender: 'x' } }],
      },
      'Bundle.entry[0].resource.gender',
    ],
    ['a concept', condition({ coding: [{ system: clinical, code: 'x' }] }), 'Condition.clinicalStatus'],
    [
      'a concept of another system',
      condition({ coding: [{ system: 'urn:x', code: 'active' }] }),
      'Condition.clinicalStatus',
    ],
    [
      'an element defined elsewhere',
      {
        resourceType: 'Questionnaire',
        status: 'active',
        item: [{ linkId: '1', type: 'group', item: [{ linkId: '2', type: 'x' }] }],
      },
      'Questionnaire.item[0].item[0].type',
    ],
  ])('are found in %s', async (_where, body, at) => {
    expect(await validated(body)).toEqual([at]);
  });

  test.each([
    [
      'codes that are',
      { resourceType: 'Patient', gender: 'female', telecom: [{ system: 'phone', use: 'home' }] },
    ],
    [
      'one coding of several',
      condition({
        coding: [
          { system: 'urn:x', code: 'y' },
          { system: clinical, code: 'active' },
        ],
      }),
    ],
    ['a coding without a system', condition({ coding: [{ code: 'active' }] })],
    ['a concept as text', condition({ text: 'active' })],
    [
      'what is bound less strictly',
      { resourceType: 'Patient', maritalStatus: { coding: [{ system: 'urn:x', code: 'y' }] } },
    ],
    [
      'sets without a list: media types',
      { resourceType: 'Patient', photo: [{ contentType: 'image/x-own' }] },
    ],
  ])('are no matter to %s', async (_what, body) => {
    expect(await validated(body)).toEqual([]);
  });
});

describe('a narrative', () => {
  const narrative = (inner: string) => ({
    resourceType: 'Patient',
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${inner}</div>` },
  });

  test.each([
    '<script>alert(1)</script>',
    '<SCRIPT src="x"></SCRIPT>',
    '<script',
    '<img src="x" onerror="alert(1)"/>',
    '<img src=x onerror=alert(1) />',
    '<b onclick="x">a</b>',
    '<b/onclick="x">a</b>',
    '<a href="javascript:alert(1)">a</a>',
    '<a href=" java&#115;cript:alert(1)">a</a>',
    '<a href="data:text/html,x">a</a>',
    '<img src="data:image/svg+xml,x"/>',
    '<img src="data:image/ svg+xml,x"/>',
    '<iframe src="https://example.org"></iframe>',
    '<svg><script/></svg>',
    '<form action="/"><input/></form>',
    '<style>b {}</style>',
    '<!DOCTYPE html>',
    '<!--><script>alert(1)</script>-->',
  ])('with %s is 422', async (inner) => {
    const { status, json } = await fhir('POST', 'Patient', { body: narrative(inner) });
    expect([status, json.issue[0].expression]).toEqual([422, ['Patient.text.div']]);
  });

  test.each([
    '<p>Ann <b class="x" style="color: red">Lee</b><br/> &lt;script&gt; 5 < 6 <!-- note --></p>',
    '<table border="1"><tr><td colspan="2">a</td></tr></table><hr />',
    '<a href="https://example.org/a?b=c:d">a</a><a href="#x">b</a><a href="Patient/1">c</a><a href="mailto:a@b.org">d</a>',
    '<img src="data:image/png;base64,aGk=" alt="x > y"/>',
  ])('with %s is taken', async (inner) => {
    expect(await validated(narrative(inner))).toEqual([]);
  });

  test('is read in linear time', async () => {
    const started = performance.now();
    for (const inner of [
      '<b '.repeat(300_000),
      `<b ${'a="" '.repeat(200_000)}`,
      '<!--'.repeat(200_000),
      '<!-- -'.repeat(200_000),
    ]) {
      await validated(narrative(inner));
    }
    expect(performance.now() - started).toBeLessThan(8000);
  });
});

describe('what takes R4 long to check', () => {
  const listOf = (count: number, entry: (n: number) => object) =>
    Array.from({ length: count }, (_, n) => entry(n));
  const coding = (letter: string) => listOf(8000, (n) => ({ code: `${letter}${n}` }));
  const structure = { resourceType: 'StructureDefinition', url: 'urn:x', name: 'X', status: 'draft' };

  test.each<[string, { resourceType: string; [element: string]: unknown }]>([
    [
      'elements that are compared with each other',
      {
        ...{ ...structure, kind: 'logical', abstract: true, type: 'X' },
        differential: { element: listOf(8000, (n) => ({ id: `X.${n}`, path: n === 0 ? 'X' : `X.a${n}` })) },
      },
    ],
    [
      'many elements with rules',
      {
        ...{ resourceType: 'Questionnaire', status: 'draft' },
        item: listOf(8000, (n) => ({ linkId: `${n}`, type: 'string' })),
      },
    ],
  ])('is too costly: %s', async (_, body) => {
    const { json } = await fhir('POST', `${body.resourceType}/$validate`, { body });
    expect(json.issue).toEqual([expect.objectContaining({ severity: 'error', code: 'too-costly' })]);
  });

  test('is no list of entries that are to be distinct, or compared with others', async () => {
    const system = { resourceType: 'CodeSystem', status: 'draft', content: 'complete' };
    const concept = listOf(28_000, (n) => ({ code: `${n}` }));
    expect(await validated({ ...system, concept })).toEqual([]);
    expect(await validated({ ...system, concept: [...concept, { code: '1' }] })).toEqual(['CodeSystem']);
    const observation = { resourceType: 'Observation', status: 'final', code: { coding: coding('a') } };
    const component = coding('b').map((one) => ({ code: { coding: [one] }, valueString: 'x' }));
    expect(await validated({ ...observation, component })).toEqual([]);
  });

  test('is no list of a usual length', async () => {
    const item = listOf(1000, (n) => ({ linkId: `${n}`, type: 'string' }));
    expect(await validated({ resourceType: 'Questionnaire', status: 'draft', item })).toEqual([]);
  });
});
