import type { ClientApplication, ProjectMembership } from '@medplum/fhirtypes';
import type { Member } from '../members/rights-form.tsx';

export type Client = ClientApplication & { redirectUris?: string[]; redirectUri?: string; public?: boolean };

/** Without a secret when it is public. */
export type NewClient = ClientApplication & { id: string; secret?: string };

/** `GET admin/projects/<id>/client/<id>`: how it signs in. Instants as FHIR writes them. */
interface ClientState {
  membership: { reference: string };
  hasSecret: boolean;
  rotated?: string;
  oldSecretUntil?: string;
  expires?: string;
  lastUsed?: string;
}

/** A key with what its page tells. */
export interface Key {
  client: Client;
  state: ClientState;
  member: Member;
}

export function redirectsOf({ redirectUris, redirectUri }: Client): string[] {
  return redirectUris ?? (redirectUri ? [redirectUri] : []);
}

/** When a program last signed in, to the hour; undefined when it never did. */
export function lastUsedOf({ extension }: ProjectMembership): string | undefined {
  return extension?.find(({ url }) => url === 'urn:portico:extension:last-sign-in')?.valueInstant;
}
