import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Answer, Portico } from './portico.ts';

/** Invites and what they refer to, as the specs of invitations need them. */
export interface Inviting {
  project: string;
  /** As the first Project. */
  invite(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** As the second Project. */
  inviteByOther(body: unknown): Promise<Answer>;
  /** Creates a resource that an invite refers to, in the first Project unless a token of the second is given. */
  create(resource: { resourceType: string } & Record<string, unknown>, token?: string): Promise<string>;
}

export function inviting(portico: Portico): Inviting {
  const project = portico.projects[0]?.id ?? '';
  return {
    project,
    invite: (body, headers = {}) =>
      portico.api('POST', `admin/projects/${project}/invite`, { body, headers }),
    async inviteByOther(body) {
      const other = portico.projects[1];
      const token = await portico.token(other);
      return portico.api('POST', `admin/projects/${other?.id}/invite`, { body, token });
    },
    async create(resource, token) {
      const call = { body: resource, ...(token ? { token } : {}) };
      const answer = await portico.api('POST', `fhir/R4/${resource.resourceType}`, call);
      if (answer.status !== 201) throw new Error(answer.text);
      return `${resource.resourceType}/${answer.json.id}`;
    },
  };
}

function newAddress(name = 'person'): string {
  return `${name}-${randomUUID()}@example.com`;
}

/** The body of an invite of somebody new; no mail unless asked for. */
export function person(change: Record<string, unknown> = {}) {
  return {
    resourceType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: newAddress(),
    sendEmail: false as boolean,
    ...change,
  };
}

/** The membership that an invite answers, as it is read later: without what that invite did. */
export function asStored(membership: Answer['json']): Answer['json'] {
  const [invitation] = membership.extension;
  const extension = invitation.extension.filter(({ url }: { url: string }) => url !== 'outcome');
  return { ...membership, extension: [{ ...invitation, extension }] };
}

/** The parts of the invitation extension by name. */
export function invitationOf({ json }: Answer): Record<string, unknown> {
  const [extension] = json.extension;
  expect(extension.url).toBe('urn:portico:extension:invitation');
  return Object.fromEntries(
    extension.extension.map(({ url, ...value }: Record<string, unknown>) => [url, Object.values(value)[0]]),
  );
}

export function expectRefused(answer: Answer, status: number, text: string, field?: string) {
  expect(answer.json).toMatchObject({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', details: { text }, ...(field ? { expression: [field] } : {}) }],
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
}
