/** What the audit log tells of, by the code of its subtype. */
export const deeds = [
  { value: '', label: 'Everything' },
  { value: 'invite', label: 'Invited' },
  { value: 'accept', label: 'Accepted an invitation' },
  { value: 'resend-invitation', label: 'Sent an invitation again' },
  { value: 'revoke-invitation', label: 'Revoked an invitation' },
  { value: 'change-member', label: 'Changed a member' },
  { value: 'remove-member', label: 'Removed a member' },
  { value: 'create-client', label: 'Created an API key' },
  { value: 'create-bot', label: 'Created a Bot' },
  { value: 'deploy', label: 'Deployed a Bot' },
  { value: 'rollback', label: 'Rolled a Bot back' },
  { value: 'change-secrets', label: 'Changed secrets' },
  { value: 'execute', label: 'Executed a Bot' },
  { value: 'create', label: 'Created a record' },
  { value: 'update', label: 'Changed a record' },
  { value: 'delete', label: 'Deleted a record' },
] as const;

export function deedOf(code: string | undefined): string {
  return deeds.find(({ value }) => value === code)?.label ?? code ?? 'Something';
}
