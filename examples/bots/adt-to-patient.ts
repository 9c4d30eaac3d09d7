/**
 * HL7 ADT (admitted, registered, changed) to Patient: one Patient for each medical record number, created by
 * the first message and updated by the next. The sender gets an acknowledgement: AA when it is done, AE when
 * this message is wrong or could not be stored, AR when such messages are not for this Bot.
 */

import { type BotEvent, type MedplumClient, normalizeErrorString } from '@medplum/core';
import type { Address, ContactPoint, HumanName, Patient } from '@medplum/fhirtypes';
import type { Hl7Message } from '../../shared/bots/hl7/message.ts';

const MRN = 'https://clinic.example.org/mrn';
const EVENTS = ['A01', 'A04', 'A05', 'A08', 'A28', 'A31'];
/** HL7 table 0001. */
const GENDERS: Record<string, NonNullable<Patient['gender']>> = {
  F: 'female',
  M: 'male',
  O: 'other',
  A: 'other',
  U: 'unknown',
};

export async function handler(
  medplum: MedplumClient,
  { input: message }: BotEvent<Hl7Message>,
): Promise<Hl7Message> {
  const [type, event = ''] = [message.get('MSH.9.1'), message.get('MSH.9.2')];
  if (type !== 'ADT' || !EVENTS.includes(event)) {
    const errorCode = type === 'ADT' ? '201' : '200';
    const text = `${type}^${event} is not accepted here`;
    return message.buildAck({ ackCode: 'AR', errorCode, errorLocation: 'MSH.9', text });
  }
  const number = recordNumber(message);
  if (number === undefined) {
    const text = 'PID-3 must hold one medical record number of letters, digits and hyphens';
    return message.buildAck({ ackCode: 'AE', errorCode: '101', errorLocation: 'PID.3', text });
  }
  try {
    await store(medplum, number, message);
    return message.buildAck();
  } catch (error) {
    console.error(error);
    return message.buildAck({ ackCode: 'AE', text: normalizeErrorString(error) });
  }
}

async function store(medplum: MedplumClient, number: string, message: Hl7Message): Promise<void> {
  const identifier = `${MRN}|${number}`;
  const known = await medplum.searchOne('Patient', { identifier });
  const patient: Patient = { ...(known ?? newPatient(number)), ...changes(message) };
  // Nobody else's change between the two is overwritten: the sender is told, and sends again.
  const headers = known ? { headers: { 'If-Match': `W/"${known.meta?.versionId}"` } } : {};
  const { id } = await medplum.upsertResource(patient, { identifier }, headers);
  console.log(`${known ? 'updated' : 'created'} Patient/${id}`);
}

function newPatient(number: string): Patient {
  return { resourceType: 'Patient', identifier: [{ system: MRN, value: number }] };
}

/** The identifier of type MR (HL7 table 0203), or the only one. */
function recordNumber(message: Hl7Message): string | undefined {
  const count = message.getSegment('PID')?.getField(3)?.components.length ?? 0;
  const places = Array.from({ length: count }, (_, i) => `PID.3[${i + 1}]` as const);
  const place = places.find((at) => message.get(`${at}.5`) === 'MR') ?? (count === 1 ? places[0] : undefined);
  const number = place && message.get(`${place}.1`);
  return number && /^[\w-]+$/.test(number) ? number : undefined;
}

/** An empty field says nothing and changes nothing; "" says that there is no value any more. */
function changes(message: Hl7Message): Partial<Patient> {
  const name = only<HumanName>({
    family: message.get('PID.5.1.1'),
    given: [message.get('PID.5.2'), message.get('PID.5.3')].filter(isValue),
  });
  const address = only<Address>({
    line: [message.get('PID.11.1.1'), message.get('PID.11.2')].filter(isValue),
    city: message.get('PID.11.3'),
    state: message.get('PID.11.4'),
    postalCode: message.get('PID.11.5'),
    country: message.get('PID.11.6'),
  });
  const phone = only<ContactPoint>({ system: 'phone', use: 'home', value: message.get('PID.13.1') });
  const fields: [path: `PID.${number}`, name: keyof Patient, value: unknown][] = [
    ['PID.5', 'name', [name]],
    ['PID.7', 'birthDate', date(message.get('PID.7'))],
    ['PID.8', 'gender', GENDERS[message.get('PID.8') ?? '']],
    ['PID.11', 'address', [address]],
    ['PID.13', 'telecom', [phone]],
  ];
  const said = fields.filter(([path]) => message.get(path) !== undefined);
  return Object.fromEntries(
    said.map(([path, name, value]) => [name, isValue(message.get(path)) ? value : undefined]),
  );
}

/** HL7 writes 19880430, FHIR 1988-04-30; both may end after the year or the month. */
function date(written: string | undefined): string | undefined {
  const [, year, month, day] = /^(\d{4})(\d\d)?(\d\d)?/.exec(written ?? '') ?? [];
  return [year, month, day].filter(isValue).join('-') || undefined;
}

function isValue(text: string | undefined): text is string {
  return text !== undefined && text !== '""';
}

/** What has a value: FHIR knows no empty elements. */
function only<T extends object>(fields: { [K in keyof T]?: T[K] | undefined }): T {
  const kept = Object.entries(fields).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '""',
  );
  return Object.fromEntries(kept) as T;
}
