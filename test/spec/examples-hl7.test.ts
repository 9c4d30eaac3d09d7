import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deployExample, exampleInput, found, run } from './example-bots.ts';
import { type Portico, startPortico } from './portico.ts';

const er7 = 'x-application/hl7-v2+er7';
const mrn = 'identifier=https://clinic.example.org/mrn%7C4711';

let portico: Portico;
const bots = { adt: '', oru: '', router: '' };

beforeAll(async () => {
  portico = await startPortico();
  bots.adt = await deployExample(portico, 'adt-to-patient');
  bots.oru = await deployExample(portico, 'oru-to-observations');
  bots.router = await deployExample(portico, 'hl7-router');
});
afterAll(() => portico.stop());

/** The segments of the acknowledgement, without MSH. */
async function sent(bot: string, message: string): Promise<string[]> {
  const answer = await run(portico, bot, message, er7);
  expect(answer.headers.get('content-type')).toContain(er7);
  return answer.text.split('\r').slice(1);
}

const admission = (changes: Record<string, string> = {}) => exampleInput('adt-to-patient.hl7', changes);
const patients = () => found(portico, `Patient?${mrn}`);

describe('results before their patient', () => {
  test('are refused with the field that is wrong', async () => {
    expect(await sent(bots.oru, await exampleInput('oru-to-observations.hl7'))).toEqual([
      'MSA|AE|ORU-0001|No patient has this medical record number',
      'ERR||PID^1^3|204^Unknown key identifier^HL70357|E||||No patient has this medical record number',
    ]);
    expect(await found(portico, 'Observation?status=final')).toEqual([]);
  });
});

describe('ADT to Patient', () => {
  test('the first message creates the Patient', async () => {
    expect(await sent(bots.adt, await admission())).toEqual(['MSA|AA|ADT-0001|OK']);
    const [patient, ...others] = await patients();
    expect(others).toEqual([]);
    expect(patient).toMatchObject({
      identifier: [{ system: 'https://clinic.example.org/mrn', value: '4711' }],
      name: [{ family: 'Muster', given: ['Lena', 'Aline'] }],
      birthDate: '1988-04-30',
      gender: 'female',
      address: [{ line: ['Musterweg 1'], city: 'Musterstadt', postalCode: '3000', country: 'CH' }],
      telecom: [{ system: 'phone', use: 'home', value: '+41 00 000 00 00' }],
    });
  });

  test('the second one updates it; an empty field changes nothing, a null takes away', async () => {
    const [before] = await patients();
    const change = await admission({
      'ADT^A01^ADT_A01|ADT-0001': 'ADT^A08^ADT_A01|ADT-0003',
      'Muster^Lena^Aline': 'Muster-O\\T\\Neill^Lena',
      'Musterweg 1^^Musterstadt^^3000^CH': '',
      '+41 00 000 00 00^PRN^PH': '""',
    });
    expect(await sent(bots.adt, change)).toEqual(['MSA|AA|ADT-0003|OK']);
    const [after, ...others] = await patients();
    expect(others).toEqual([]);
    expect(after.id).toBe(before.id);
    expect(after.meta.versionId).not.toBe(before.meta.versionId);
    expect(after.name).toEqual([{ family: 'Muster-O&Neill', given: ['Lena'] }]);
    expect(after.address).toEqual(before.address);
    expect(after.telecom).toBeUndefined();
  });

  test('the same message four times at once leaves one Patient, and each sender knows what became of it', async () => {
    const message = await admission({ '4711^^^': '0815^^^' });
    const acks = await Promise.all(Array.from({ length: 4 }, () => sent(bots.adt, message)));
    const known = await found(portico, 'Patient?identifier=https://clinic.example.org/mrn%7C0815');
    expect(known).toHaveLength(1);
    expect(acks.filter(([msa]) => msa?.startsWith('MSA|AA|'))).not.toHaveLength(0);
    for (const [msa] of acks) expect(msa).toMatch(/^MSA\|A[AE]\|ADT-0001\|./);
  });

  test.each([
    [
      'another message type',
      { 'ADT^A01^ADT_A01': 'ORM^O01^ORM_O01' },
      'MSA|AR|ADT-0001|ORM^O01 is not accepted here',
      /^ERR\|\|MSH\^1\^9\|200\^Unsupported message type\^HL70357\|E\|/,
    ],
    [
      'another event',
      { 'ADT^A01^ADT_A01': 'ADT^A40^ADT_A39' },
      'MSA|AR|ADT-0001|ADT^A40 is not accepted here',
      /\|201\^Unsupported event code\^/,
    ],
    [
      'no record number',
      { '4711^^^CLINIC^MR~CARD-0001^^^INSURANCE^SS': '' },
      'MSA|AE|ADT-0001|PID-3 must hold one medical record number of letters, digits and hyphens',
      /^ERR\|\|PID\^1\^3\|101\^/,
    ],
    [
      'what FHIR does not take',
      { '19880430': '19881330', 'ADT-0001': 'ADT-0004' },
      expect.stringMatching(/^MSA\|AE\|ADT-0004\|.*birthDate/),
      /\|207\^Application internal error\^/,
    ],
  ])('%s is answered with the reason', async (_, changes, msa, err) => {
    const before = await patients();
    const segments = await sent(bots.adt, await admission(changes as Record<string, string>));
    const escaped = typeof msa === 'string' ? msa.replace(/\^(?=[A-Z]\d\d is)/, '\\S\\') : msa;
    expect(segments).toEqual([escaped, expect.stringMatching(err)]);
    expect(await patients()).toEqual(before);
  });
});

describe('ORU to Observations', () => {
  const results = (changes: Record<string, string> = {}) => exampleInput('oru-to-observations.hl7', changes);
  const stored = () => found(portico, `Observation?identifier:missing=false&_count=50`);

  test('stores a report with its results: quantities, codes, texts, references', async () => {
    expect(await sent(bots.oru, await results())).toEqual(['MSA|AA|ORU-0001|OK']);
    const [patient] = await patients();
    const [report, ...others] = await found(portico, `DiagnosticReport?subject=Patient/${patient.id}`);
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '24323-8' }] },
      effectiveDateTime: '2026-03-02T07:30:00.000Z',
      issued: '2026-03-02T09:10:00.000Z',
    });
    const read = async (position: number) => {
      const answer = await portico.api('GET', `fhir/R4/${report.result[position].reference}`);
      expect(answer.json.subject).toEqual({ reference: `Patient/${patient.id}` });
      return answer.json;
    };
    expect(report.result).toHaveLength(4);
    expect(await read(0)).toMatchObject({
      code: { coding: [{ system: 'http://loinc.org', code: '2345-7', display: 'Glucose' }] },
      valueQuantity: { value: 5.4, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
      referenceRange: [{ text: '3.9-5.6' }],
      interpretation: [{ coding: [{ code: 'N' }] }],
      status: 'final',
    });
    expect(await read(1)).toMatchObject({
      valueQuantity: { comparator: '<', value: 30, unit: 'µmol/L', code: 'umol/L' },
    });
    expect(await read(2)).toMatchObject({
      valueCodeableConcept: { coding: [{ system: 'http://snomed.info/sct', code: '112144000' }] },
    });
    expect(await read(3)).toMatchObject({ valueString: 'Taken fasting.\nSample clear & complete.' });
  });

  test('a corrected message replaces the results and adds none', async () => {
    const before = await stored();
    const corrected = await results({ '|5.4|': '|5.6|', '3.9-5.6|N|||F': '3.9-5.6|N|||C' });
    expect(await sent(bots.oru, corrected)).toEqual(['MSA|AA|ORU-0001|OK']);
    const after = await stored();
    expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
    const glucose = after.find(({ code }) => code.coding[0].code === '2345-7');
    expect(glucose).toMatchObject({ status: 'corrected', valueQuantity: { value: 5.6 } });
  });

  test('an order without a number stores nothing of the message', async () => {
    const before = await stored();
    const [msa] = await sent(bots.oru, await results({ 'OBR|1|P-100|F-100|': 'OBR|1|||', '|5.4|': '|9.9|' }));
    expect(msa).toMatch(/^MSA\|AE\|ORU-0001\|.*order number/);
    expect(await stored()).toEqual(before);
  });
});

describe('a Bot that calls a Bot', () => {
  test("hands the message on and gives back the other Bot's acknowledgement", async () => {
    expect(await sent(bots.router, await exampleInput('hl7-router.hl7'))).toEqual(['MSA|AA|ADT-0002|OK']);
    expect(await sent(bots.router, await exampleInput('oru-to-observations.hl7'))).toEqual([
      'MSA|AA|ORU-0001|OK',
    ]);
  });

  test('refuses what it knows no Bot for', async () => {
    const [msa] = await sent(bots.router, await admission({ 'ADT^A01^ADT_A01': 'SIU^S12^SIU_S12' }));
    expect(msa).toBe('MSA|AR|ADT-0001|SIU is not accepted here');
  });
});
