/** Welcomes a patient in their own language: one message each, however often it is asked for. */

import type { BotEvent, MedplumClient } from '@medplum/core';
import type { Communication, Patient } from '@medplum/fhirtypes';

const WELCOMES = 'https://clinic.example.org/welcomes';
const TEXTS = {
  de: (name: string) => `Willkommen in der Beispielklinik, ${name}.`,
  en: (name: string) => `Welcome to the Example Clinic, ${name}.`,
  fr: (name: string) => `Bienvenue à la clinique Exemple, ${name}.`,
};

export async function handler(
  medplum: MedplumClient,
  { input: patient }: BotEvent<Patient>,
): Promise<Communication> {
  if (patient.resourceType !== 'Patient' || !patient.id) {
    throw new Error('Send a Patient that has an id');
  }
  const name = patient.name?.[0];
  const called = [name?.given?.[0], name?.family].filter(Boolean).join(' ') || 'dear patient';
  return medplum.createResourceIfNoneExist<Communication>(
    {
      resourceType: 'Communication',
      identifier: [{ system: WELCOMES, value: patient.id }],
      status: 'completed',
      subject: { reference: `Patient/${patient.id}` },
      recipient: [{ reference: `Patient/${patient.id}` }],
      payload: [{ contentString: TEXTS[languageOf(patient)](called) }],
    },
    `identifier=${WELCOMES}|${patient.id}`,
  );
}

function languageOf({ communication = [] }: Patient): keyof typeof TEXTS {
  const [preferred] = communication.toSorted((a, b) => Number(b.preferred ?? 0) - Number(a.preferred ?? 0));
  const code = preferred?.language.coding?.[0]?.code?.slice(0, 2);
  return code === 'de' || code === 'fr' ? code : 'en';
}
