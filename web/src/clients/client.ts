import type { ClientApplication } from '@medplum/fhirtypes';

export type Client = ClientApplication & { redirectUris?: string[]; redirectUri?: string; public?: boolean };
