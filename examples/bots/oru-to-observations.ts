/**
 * HL7 ORU^R01 (laboratory results) to a DiagnosticReport for each OBR and an Observation for each OBX, all of a
 * message or nothing of it. Filler order number and set id name them, so a corrected result replaces the first.
 */

import { type BotEvent, type MedplumClient, normalizeErrorString, parseHl7DateTime } from '@medplum/core';
import type {
  BundleEntry,
  CodeableConcept,
  DiagnosticReport,
  Observation,
  Patient,
  Quantity,
  Reference,
} from '@medplum/fhirtypes';
import type { Hl7Message } from '../../shared/bots/hl7/message.ts';

const MRN = 'https://clinic.example.org/mrn';
const RESULTS = 'https://laboratory.example.org/results';
/** Names of coding systems in HL7 (table 0396) → in FHIR. */
const SYSTEMS: Record<string, string> = {
  LN: 'http://loinc.org',
  SCT: 'http://snomed.info/sct',
  UCUM: 'http://unitsofmeasure.org',
};
/** OBX-11, HL7 table 0085. */
const RESULT_STATUS: Record<string, Observation['status']> = {
  F: 'final',
  P: 'preliminary',
  C: 'corrected',
  X: 'cancelled',
  W: 'entered-in-error',
  D: 'entered-in-error',
};
/** OBR-25, HL7 table 0123. */
const REPORT_STATUS: Record<string, DiagnosticReport['status']> = {
  F: 'final',
  P: 'preliminary',
  C: 'corrected',
  X: 'cancelled',
};

const INTERPRETATION = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
const COMPARATORS = ['<', '<=', '>=', '>'] as const;

export async function handler(
  medplum: MedplumClient,
  { input: message }: BotEvent<Hl7Message>,
): Promise<Hl7Message> {
  if (message.get('MSH.9.1') !== 'ORU') {
    const text = `${message.get('MSH.9.1')} is not accepted here`;
    return message.buildAck({ ackCode: 'AR', errorCode: '200', errorLocation: 'MSH.9', text });
  }
  try {
    const patient = await medplum.searchOne('Patient', { identifier: `${MRN}|${message.get('PID.3.1')}` });
    if (!patient) {
      const text = 'No patient has this medical record number';
      return message.buildAck({ ackCode: 'AE', errorCode: '204', errorLocation: 'PID.3', text });
    }
    const entry = reportsOf(message, { reference: `Patient/${patient.id}` });
    await medplum.executeBatch({ resourceType: 'Bundle', type: 'transaction', entry });
    console.log(`stored ${entry.length} resources for Patient/${patient.id}`);
    return message.buildAck();
  } catch (error) {
    console.error(error);
    return message.buildAck({ ackCode: 'AE', text: normalizeErrorString(error) });
  }
}

/** An OBX belongs to the OBR before it. */
function reportsOf(message: Hl7Message, subject: Reference<Patient>): BundleEntry[] {
  const entries: BundleEntry[] = [];
  let report: DiagnosticReport | undefined;
  const seen = { OBR: 0, OBX: 0 };
  for (const { name } of message.segments) {
    if (name === 'OBR') {
      seen.OBR += 1;
      report = reportOf(message, `OBR[${seen.OBR}]`, subject);
      entries.push(put(report));
    } else if (name === 'OBX') {
      seen.OBX += 1;
      if (!report) throw new Error('An OBX stands before the first OBR');
      const result = put(observationOf(message, `OBX[${seen.OBX}]`, report));
      report.result = [...(report.result ?? []), { reference: result.fullUrl ?? '' }];
      entries.push(result);
    }
  }
  return entries;
}

function reportOf(message: Hl7Message, obr: string, subject: Reference<Patient>): DiagnosticReport {
  const order = message.get(`${obr}.3.1`) ?? message.get(`${obr}.2.1`);
  if (!order) throw new Error(`${obr} has neither a filler order number (OBR-3) nor a placer's (OBR-2)`);
  return {
    resourceType: 'DiagnosticReport',
    identifier: [{ system: RESULTS, value: order }],
    status: REPORT_STATUS[message.get(`${obr}.25`) ?? ''] ?? 'unknown',
    code: concept(message, `${obr}.4`),
    subject,
    ...dated('effectiveDateTime', message.get(`${obr}.7`)),
    ...dated('issued', message.get(`${obr}.22`)),
  };
}

function observationOf(message: Hl7Message, obx: string, report: DiagnosticReport): Observation {
  const { subject, effectiveDateTime } = report;
  const range = message.get(`${obx}.7`);
  const flag = message.get(`${obx}.8`);
  return {
    resourceType: 'Observation',
    identifier: [{ system: RESULTS, value: `${report.identifier?.[0]?.value}-${message.get(`${obx}.1`)}` }],
    status: RESULT_STATUS[message.get(`${obx}.11`) ?? ''] ?? 'unknown',
    code: concept(message, `${obx}.3`),
    ...(subject ? { subject: subject as Reference<Patient> } : {}),
    ...(effectiveDateTime ? { effectiveDateTime } : {}),
    ...dated('effectiveDateTime', message.get(`${obx}.14`)),
    ...observed(message, obx),
    ...(range ? { referenceRange: [{ text: range }] } : {}),
    ...(flag ? { interpretation: [{ coding: [{ system: INTERPRETATION, code: flag }] }] } : {}),
  };
}

/** By OBX-2, HL7 table 0125; what has no better place in FHIR is text. */
function observed(message: Hl7Message, obx: string): Partial<Observation> {
  const written = message.get(`${obx}.5`);
  if (written === undefined || written === '""') return {};
  switch (message.get(`${obx}.2`)) {
    case 'NM':
      return Number.isFinite(Number(written))
        ? { valueQuantity: quantity(message, obx, written) }
        : { valueString: written };
    case 'SN': {
      const [comparator, number, separator] = [1, 2, 3].map((n) => message.get(`${obx}.5.${n}`));
      if (!number || separator || !Number.isFinite(Number(number)))
        return { valueString: written.replaceAll('^', '') };
      const than = COMPARATORS.find((sign) => sign === comparator);
      return { valueQuantity: { ...quantity(message, obx, number), ...(than ? { comparator: than } : {}) } };
    }
    case 'CE':
    case 'CWE':
    case 'CNE':
      return { valueCodeableConcept: concept(message, `${obx}.5`) };
    default:
      // Each repetition of a text is a line of it.
      return { valueString: message.getAll(`${obx}.5`).join('\n') };
  }
}

function quantity(message: Hl7Message, obx: string, number: string): Quantity {
  const code = message.get(`${obx}.6.1`);
  const unit = message.get(`${obx}.6.2`) ?? code;
  const system = SYSTEMS[message.get(`${obx}.6.3`) ?? ''];
  return { value: Number(number), ...(unit ? { unit } : {}), ...(system && code ? { system, code } : {}) };
}

/** Data types CE and CWE: code, text, coding system. */
function concept(message: Hl7Message, path: string): CodeableConcept {
  const [code, text, named] = [1, 2, 3].map((n) => message.get(`${path}.${n}`));
  const system = SYSTEMS[named ?? ''] ?? (named && `urn:hl7-coding-system:${named}`);
  return {
    ...(code
      ? { coding: [{ ...(system ? { system } : {}), code, ...(text ? { display: text } : {}) }] }
      : {}),
    ...((text ?? code) ? { text: text ?? code ?? '' } : {}),
  };
}

/** A date alone gets no time that nobody said. */
function dated<Name extends string>(name: Name, written: string | undefined): { [N in Name]?: string } {
  const time = written && written.length >= 12 ? parseHl7DateTime(written) : undefined;
  const day =
    name !== 'issued' && written ? /^(\d{4})(\d\d)(\d\d)/.exec(written)?.slice(1).join('-') : undefined;
  return (time ?? day) ? ({ [name]: time ?? day } as { [N in Name]?: string }) : {};
}

/** R4 conditional update: the resource with this identifier, or a new one. */
function put(resource: DiagnosticReport | Observation): BundleEntry {
  const [{ system, value } = {}] = resource.identifier ?? [];
  const url = `${resource.resourceType}?identifier=${encodeURIComponent(`${system}|${value}`)}`;
  return { fullUrl: `urn:uuid:${crypto.randomUUID()}`, resource, request: { method: 'PUT', url } };
}
