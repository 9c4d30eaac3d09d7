import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isAuditEvent } from '../storage/stored.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, change, execute } from './running.ts';

let portico: Portico;
/** What the functions and their helpers had logged before. */
let before = 0;

beforeAll(async () => {
  portico = await startPortico();
  before = (await stat(portico.local.log)).size;
});
afterAll(() => portico.stop());

/** Each of them in the messages below, and in nothing else. */
const personal = [
  'Wollstonecraft',
  'Xanthippe',
  '19470823',
  '1947-08-23',
  'MRN-5550147',
  '5550147',
  'Larkspur',
  'Thistlewick',
  '555-867-5309',
  'xanthippe@clinic.example',
  '078-05-1120',
];

const message = [
  'MSH|^~\\&|LAB|CLINIC|EHR|CLINIC|20260101120000||ADT^A01|CTRL1|P|2.5',
  'PID|1||MRN-5550147^^^CLINIC^MR||Wollstonecraft^Xanthippe||19470823|F|||12 Larkspur Lane^^Thistlewick||555-867-5309|||||078-05-1120',
  'PV1|1|I|Larkspur^1^A',
].join('\r');
const patient = {
  resourceType: 'Patient',
  identifier: [{ value: 'MRN-5550147' }],
  name: [{ family: 'Wollstonecraft', given: ['Xanthippe'] }],
  birthDate: '1947-08-23',
  telecom: [{ value: 'xanthippe@clinic.example' }, { value: '555-867-5309' }],
  address: [{ line: ['12 Larkspur Lane'], city: 'Thistlewick' }],
};
const json = 'application/json';
const fhir = 'application/fhir+json';
const hl7 = 'x-application/hl7-v2+er7';

test('no log line holds anything of the people in what Bots are given, store, print or throw', async () => {
  const bots = {
    echo: 'console.log(String(event.input), JSON.stringify(event.input)); return event.input',
    throws: 'throw new Error(String(event.input) + JSON.stringify(event.input))',
    outcome:
      'const { OperationOutcomeError, badRequest } = require("@medplum/core"); throw new OperationOutcomeError(badRequest(JSON.stringify(event.input)))',
    loops: 'console.error(event.input); for (;;);',
    stores: `const made = await medplum.createResource(${JSON.stringify(patient)});
             await medplum.searchResources('Patient', { family: 'Wollstonecraft', birthdate: '1947-08-23' });
             await medplum.searchResources('Patient', { nonsense: 'Wollstonecraft' }).catch(() => {});
             await medplum.createResource({ ...made, id: undefined, birthDate: 'Xanthippe' }).catch(() => {});
             await medplum.updateResource({ ...made, gender: 'Wollstonecraft' }).catch(() => {});
             await medplum.readResource('Patient', 'Wollstonecraft').catch(() => {});
             await fetch('https://wollstonecraft.invalid/?name=Xanthippe').catch(() => {});
             throw new Error(made.name[0].family)`,
    cyclic: 'const all = { input: String(event.input) }; all.all = all; return all',
  };
  for (const [name, code] of Object.entries(bots)) {
    const bot = await botThat(portico, code);
    if (name === 'loops') await change(portico, 'Bot', bot, { timeout: 0.2 });
    for (const [body, type] of [
      [message, hl7],
      [message, 'text/plain'],
      [JSON.stringify(patient), fhir],
      [JSON.stringify(patient), json],
      [`{"broken": "Wollstonecraft`, json],
      [`Wollstonecraft|${message}`, hl7],
      ['name=Wollstonecraft&born=%zz', 'application/x-www-form-urlencoded'],
    ] as const) {
      expect((await execute(portico, bot, body, type)).status).toBeLessThan(500);
    }
  }
  await portico.api('POST', 'fhir/R4/Bot/$execute?identifier=Wollstonecraft|5550147', { body: 'x' });
  await portico.api('POST', 'fhir/R4/Bot/Wollstonecraft/$execute', { body: 'x' });
  await portico.api('GET', 'fhir/R4/Patient?name=Wollstonecraft&nonsense=Xanthippe');
  const log = (await readFile(portico.local.log)).subarray(before).toString();
  expect(log).toContain('refused');
  for (const one of personal)
    expect([one, log.toLowerCase().includes(one.toLowerCase())]).toEqual([one, false]);
});

test('nor does an execution record beside its log', async () => {
  const records = (await portico.local.scan())
    .filter(isAuditEvent)
    .map(({ log: _, ...record }) => JSON.stringify(record))
    .filter((record) => record.includes('inputBytes'));
  expect(records.length).toBeGreaterThan(20);
  for (const one of personal)
    expect([one, records.some((record) => record.includes(one))]).toEqual([one, false]);
});
