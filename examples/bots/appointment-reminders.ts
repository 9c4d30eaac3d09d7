/** Reminds the patients of tomorrow's appointments: one message for each, however often it runs. By a schedule. */

import type { BotEvent, MedplumClient } from '@medplum/core';
import type { Appointment, Bot, Communication } from '@medplum/fhirtypes';

const REMINDERS = 'https://clinic.example.org/reminders';

export async function handler(
  medplum: MedplumClient,
  { headers }: BotEvent<Bot>,
): Promise<{ day: string; reminders: number }> {
  const due = String(headers?.['x-portico-scheduled'] ?? new Date().toISOString());
  const day = new Date(Date.parse(due) + 86_400_000).toISOString().slice(0, 10);
  let reminders = 0;
  for await (const page of medplum.searchResourcePages('Appointment', { date: day, status: 'booked' })) {
    for (const appointment of page) reminders += await remind(medplum, appointment);
  }
  return { day, reminders };
}

async function remind(medplum: MedplumClient, { id = '', start, participant }: Appointment): Promise<number> {
  const patient = participant.find(({ actor }) => actor?.reference?.startsWith('Patient/'))?.actor;
  if (!patient?.reference) return 0;
  await medplum.createResourceIfNoneExist<Communication>(
    {
      resourceType: 'Communication',
      identifier: [{ system: REMINDERS, value: id }],
      status: 'preparation',
      subject: { reference: patient.reference },
      payload: [{ contentString: `We expect you at ${start?.slice(11, 16)}.` }],
    },
    `identifier=${REMINDERS}|${id}`,
  );
  return 1;
}
