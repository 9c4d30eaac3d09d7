/**
 * A web form asks for an appointment: a Task for the front desk. What is wrong with the form is answered field
 * by field, and a form that is sent twice makes one Task.
 */

import { type BotEvent, type MedplumClient, OperationOutcomeError } from '@medplum/core';
import type { OperationOutcomeIssue, Task } from '@medplum/fhirtypes';

const FORMS = 'https://clinic.example.org/forms/appointment';
const RULES = {
  submission: { pattern: /^[\w-]{8,64}$/, text: 'submission must be 8 to 64 letters, digits or hyphens' },
  name: { pattern: /^\S.{1,99}$/s, text: 'name is needed' },
  email: { pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, text: 'email must be an address' },
  preferred: { pattern: /^\d{4}-\d\d-\d\d$/, text: 'preferred must be a date such as 2026-03-31' },
} as const;

export async function handler(
  medplum: MedplumClient,
  { input: form }: BotEvent<Record<string, string>>,
): Promise<{ task: string }> {
  const issue = Object.entries(RULES).flatMap(([field, { pattern, text }]): OperationOutcomeIssue[] =>
    pattern.test(form[field] ?? '')
      ? []
      : [{ severity: 'error', code: 'invalid', details: { text }, expression: [field] }],
  );
  if (issue.length > 0) throw new OperationOutcomeError({ resourceType: 'OperationOutcome', issue });

  const said = ['name', 'email', 'preferred', 'message'].filter((field) => form[field]?.trim());
  const task = await medplum.createResourceIfNoneExist<Task>(
    {
      resourceType: 'Task',
      identifier: [{ system: FORMS, value: form.submission ?? '' }],
      status: 'requested',
      intent: 'proposal',
      code: { text: 'Appointment asked for' },
      input: said.map((field) => ({ type: { text: field }, valueString: form[field]?.trim() ?? '' })),
    },
    `identifier=${FORMS}|${form.submission}`,
  );
  return { task: `Task/${task.id}` };
}
