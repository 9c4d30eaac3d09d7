/** The columns that a file of invites may have, by the fields of an invite. */
const bulkColumns = [
  'resourceType',
  'firstName',
  'lastName',
  'email',
  'externalId',
  'scope',
  'password',
  'sendEmail',
  'admin',
  'mfaRequired',
  'upsert',
  'forceNewMembership',
  'newProfile',
  'accessPolicy',
  'emergencyPolicy',
  'profile',
  'relationship',
  'patient',
  'authentication',
] as const;

export type BulkColumn = (typeof bulkColumns)[number];

const byLowerCase = new Map<string, BulkColumn>(bulkColumns.map((name) => [name.toLowerCase(), name]));

/** The column that a header cell names, whatever its case; undefined for one that there is not. */
export function bulkColumn(cell: string): BulkColumn | undefined {
  return byLowerCase.get(cell.trim().toLowerCase());
}

/** Rows of one file. */
export const mostBulkRows = 200;
