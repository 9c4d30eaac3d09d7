/** One patient at a glance, over several resource types: how many, since when, and each measured value's course. */

import { type BotEvent, type MedplumClient, notFound, OperationOutcomeError } from '@medplum/core';
import type { ExtractResource, Observation, Patient, ResourceType } from '@medplum/fhirtypes';

interface Wish {
  /** `system|value` of the patient's identifier. */
  identifier: string;
  /** First day, such as `2026-01-01`; everything when left out. */
  since?: string;
}

interface Course {
  code: string;
  unit: string | undefined;
  count: number;
  lowest: number;
  highest: number;
  mean: number;
  latest: { value: number; at: string };
}

interface Report {
  patient: { reference: string; name: string; birthDate: string | undefined };
  observations: number;
  reports: string[];
  allergies: string[];
  courses: Course[];
}

export async function handler(medplum: MedplumClient, { input }: BotEvent<Wish>): Promise<Report> {
  const patient = await medplum.searchOne('Patient', { identifier: input.identifier });
  if (!patient) throw new OperationOutcomeError(notFound);
  const subject = `Patient/${patient.id}`;
  const since: Record<string, string> = input.since ? { date: `ge${input.since}` } : {};
  const [observations, reports, allergies] = await Promise.all([
    all(medplum, 'Observation', { subject, ...since }),
    all(medplum, 'DiagnosticReport', { subject, ...since }),
    all(medplum, 'AllergyIntolerance', { patient: subject }),
  ]);
  return {
    patient: { reference: subject, name: nameOf(patient), birthDate: patient.birthDate },
    observations: observations.length,
    reports: reports.map(({ code }) => code.text ?? '?').sort(),
    allergies: allergies.map(({ code }) => code?.text ?? '?').sort(),
    courses: coursesOf(observations),
  };
}

/** Every page of a search. */
async function all<Type extends ResourceType>(
  medplum: MedplumClient,
  type: Type,
  query: Record<string, string>,
): Promise<ExtractResource<Type>[]> {
  const found: ExtractResource<Type>[] = [];
  for await (const page of medplum.searchResourcePages(type, { ...query, _count: '100' })) {
    found.push(...page);
  }
  return found;
}

function coursesOf(observations: readonly Observation[]): Course[] {
  const measured = observations.flatMap(({ code, valueQuantity, effectiveDateTime }) => {
    const value = valueQuantity?.value;
    const key = code.coding?.[0]?.code;
    // "Less than 30" is no 30.
    if (value === undefined || valueQuantity?.comparator || !key || !effectiveDateTime) return [];
    return [
      {
        key: `${key} ${code.text ?? code.coding?.[0]?.display ?? ''}`.trim(),
        unit: valueQuantity?.unit,
        value,
        at: effectiveDateTime,
      },
    ];
  });
  return [...Map.groupBy(measured, ({ key, unit }) => `${key}|${unit}`).values()]
    .map((values): Course => {
      const numbers = values.map(({ value }) => value);
      const [latest] = values.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
      return {
        code: latest?.key ?? '',
        unit: latest?.unit,
        count: numbers.length,
        lowest: Math.min(...numbers),
        highest: Math.max(...numbers),
        mean: Number((numbers.reduce((sum, value) => sum + value, 0) / numbers.length).toFixed(2)),
        latest: { value: latest?.value ?? Number.NaN, at: latest?.at ?? '' },
      };
    })
    .sort((a, b) => a.code.localeCompare(b.code));
}

function nameOf({ name }: Patient): string {
  return [...(name?.[0]?.given ?? []), name?.[0]?.family].filter(Boolean).join(' ');
}
