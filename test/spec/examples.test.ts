import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deployExample, exampleInput, found, run } from './example-bots.ts';
import { type Portico, startPortico } from './portico.ts';
import { execute } from './running.ts';
import { only, put, subscribe, until } from './subscribing.ts';

const fhir = 'application/fhir+json';
const form = 'application/x-www-form-urlencoded';
const er7 = 'x-application/hl7-v2+er7';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

describe('echo', () => {
  test('gives back what it was sent, in five content types', async () => {
    const bot = await deployExample(portico, 'echo');
    const text = await exampleInput('echo.txt');
    const message = await exampleInput('adt-to-patient.hl7');
    expect((await run(portico, bot, text, 'text/plain')).text).toBe(text);
    expect((await run(portico, bot, '{"n":[1,null]}', 'application/json')).json).toEqual({ n: [1, null] });
    expect((await run(portico, bot, 'a=b+c&d=%C3%A9', form)).json).toEqual({ a: 'b c', d: 'é' });
    const patient = { resourceType: 'Patient', active: true };
    expect((await run(portico, bot, JSON.stringify(patient), fhir)).json).toEqual(patient);
    expect((await run(portico, bot, message, er7)).text).toBe(message.trimEnd());
  });
});

describe('the welcome message', () => {
  test('is written once, in the language that the patient prefers', async () => {
    const bot = await deployExample(portico, 'welcome-message');
    const input = await exampleInput('welcome-message.fhir.json');
    const [first, second] = [
      (await run(portico, bot, input, fhir)).json,
      (await run(portico, bot, input, fhir)).json,
    ];
    expect(first).toMatchObject({
      resourceType: 'Communication',
      subject: { reference: `Patient/${JSON.parse(input).id}` },
      payload: [{ contentString: 'Willkommen in der Beispielklinik, Lena Muster.' }],
    });
    expect(second.id).toBe(first.id);
    expect(await found(portico, 'Communication?status=completed')).toHaveLength(1);
  });

  test('is written when a Subscription wakes the Bot', async () => {
    const bot = await deployExample(portico, 'welcome-message', 'woken');
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?gender=unknown', {
      extension: only('create'),
    });
    const patient = await put(portico, {
      ...{ resourceType: 'Patient', gender: 'unknown', name: [{ given: ['Ann'], family: 'Lee' }] },
    });
    const welcome = await until(
      async () => (await found(portico, `Communication?subject=Patient/${patient.id}`))[0],
      `a welcome by Subscription/${id}`,
    );
    expect(welcome.payload).toEqual([{ contentString: 'Welcome to the Example Clinic, Ann Lee.' }]);
  });

  test('needs a Patient that has an id', async () => {
    const bot = await deployExample(portico, 'welcome-message', 'second');
    const answer = await execute(portico, bot, '{"resourceType":"Practitioner"}', fhir);
    expect([answer.status, answer.json.issue[0].details.text]).toEqual([
      400,
      'Send a Patient that has an id',
    ]);
  });
});

describe('the appointment reminders', () => {
  test('are written once for each of tomorrow’s appointments', async () => {
    const bot = await deployExample(portico, 'appointment-reminders');
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const patient = await put(portico, { resourceType: 'Patient' });
    const appointment = (start: string, status: string) =>
      put(portico, {
        ...{ resourceType: 'Appointment', status, start, end: start.replace(':00:', ':30:') },
        participant: [{ actor: { reference: `Patient/${patient.id}` }, status: 'accepted' }],
      });
    await appointment(`${tomorrow}T09:00:00Z`, 'booked');
    await appointment(`${tomorrow}T10:00:00Z`, 'cancelled');
    await appointment('2020-01-01T09:00:00Z', 'booked');
    const input = await exampleInput('appointment-reminders.fhir.json');
    for (let n = 0; n < 2; n++) {
      expect((await run(portico, bot, input, fhir)).json).toEqual({ day: tomorrow, reminders: 1 });
    }
    const written = await found(portico, `Communication?subject=Patient/${patient.id}`);
    expect(written.map(({ payload }) => payload[0].contentString)).toEqual(['We expect you at 09:00.']);
  });
});

describe('the questionnaire intake', () => {
  let bot: string;
  beforeAll(async () => {
    bot = await deployExample(portico, 'questionnaire-intake');
  });

  test('makes a Patient, Observations and an AllergyIntolerance that refer to them', async () => {
    const { json } = await run(portico, bot, await exampleInput('questionnaire-intake.fhir.json'), fhir);
    expect(json.written).toHaveLength(3);
    const patient = await portico.api('GET', `fhir/R4/${json.patient}`);
    expect(patient.json).toMatchObject({
      name: [{ family: 'Muster', given: ['Lena'] }],
      birthDate: '1988-04-30',
    });
    const vitals = await found(portico, `Observation?subject=${json.patient}`);
    const values = vitals.map(({ code, valueQuantity }) => [
      code.coding[0].code,
      valueQuantity.value,
      valueQuantity.code,
    ]);
    expect(values.sort()).toEqual([
      ['29463-7', 64.5, 'kg'],
      ['8302-2', 171, 'cm'],
    ]);
    const allergies = await found(portico, `AllergyIntolerance?patient=${json.patient}`);
    expect(allergies).toMatchObject([{ code: { text: 'Penicillin' } }]);
  });

  test('sent again with another answer changes what there is', async () => {
    const input = await exampleInput('questionnaire-intake.fhir.json', { '64.5': '65.25' });
    const { json } = await run(portico, bot, input, fhir);
    const vitals = await found(portico, `Observation?subject=${json.patient}`);
    expect(vitals.map(({ valueQuantity }) => valueQuantity.value).sort()).toEqual([171, 65.25]);
    expect(
      await found(portico, 'Patient?identifier=https://insurance.example.org/card%7CCARD-0001'),
    ).toHaveLength(1);
  });

  test('without an answer that is needed names the question and writes nothing', async () => {
    const input = await exampleInput('questionnaire-intake.fhir.json', {
      'card-number': 'other',
      'intake-1': 'intake-2',
    });
    const answer = await execute(portico, bot, input, fhir);
    expect(answer.status).toBe(400);
    expect(answer.json.issue[0]).toMatchObject({ expression: ['card-number'] });
    expect(await found(portico, 'Observation?code=29463-7')).toHaveLength(1);
  });
});

describe('the form webhook', () => {
  let bot: string;
  beforeAll(async () => {
    bot = await deployExample(portico, 'form-webhook');
  });

  test('makes one Task of a form that is sent twice', async () => {
    const input = await exampleInput('form-webhook.form');
    const [first, second] = [
      (await run(portico, bot, input, form)).json,
      (await run(portico, bot, input, form)).json,
    ];
    expect(second).toEqual(first);
    const task = await portico.api('GET', `fhir/R4/${first.task}`);
    expect(task.json.input).toEqual([
      { type: { text: 'name' }, valueString: 'Lena Muster' },
      { type: { text: 'email' }, valueString: 'lena@example.org' },
      { type: { text: 'preferred' }, valueString: '2026-03-31' },
      { type: { text: 'message' }, valueString: 'Mornings if possible.' },
    ]);
    expect(await found(portico, 'Task?status=requested')).toHaveLength(1);
  });

  test('names every field that is wrong', async () => {
    const answer = await execute(portico, bot, 'submission=x&name=&email=nobody', form);
    expect(answer.status).toBe(400);
    expect(answer.json.issue.map(({ expression }: { expression: string[] }) => expression[0])).toEqual([
      'submission',
      'name',
      'email',
      'preferred',
    ]);
    expect(await found(portico, 'Task?status=requested')).toHaveLength(1);
  });
});

describe('the report', () => {
  test('adds up what the other examples stored', async () => {
    await run(
      portico,
      await deployExample(portico, 'adt-to-patient'),
      await exampleInput('adt-to-patient.hl7'),
      er7,
    );
    const oru = await deployExample(portico, 'oru-to-observations');
    await run(portico, oru, await exampleInput('oru-to-observations.hl7'), er7);
    const later = { 'F-100': 'F-101', '|20260302083000+0100|': '|20260309083000+0100|', '|5.4|': '|6.1|' };
    await run(portico, oru, await exampleInput('oru-to-observations.hl7', later), er7);

    const bot = await deployExample(portico, 'patient-report');
    const input = await exampleInput('patient-report.json');
    const { json } = await run(portico, bot, input, 'application/json');
    expect(json).toEqual({
      patient: {
        reference: expect.stringMatching(/^Patient\//),
        name: 'Lena Aline Muster',
        birthDate: '1988-04-30',
      },
      observations: 8,
      reports: ['Comprehensive metabolic panel', 'Comprehensive metabolic panel'],
      allergies: [],
      courses: [
        {
          code: '2345-7 Glucose',
          unit: 'mmol/L',
          count: 2,
          lowest: 5.4,
          highest: 6.1,
          mean: 5.75,
          latest: { value: 6.1, at: '2026-03-09T07:30:00.000Z' },
        },
      ],
    });
    const since = await run(portico, bot, input.replace('2026-01-01', '2026-03-05'), 'application/json');
    expect(since.json.observations).toBe(4);
    const unknown = await execute(portico, bot, input.replace('4711', '9999'), 'application/json');
    expect(unknown.status).toBe(404);
  });
});
