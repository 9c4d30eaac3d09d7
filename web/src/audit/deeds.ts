/** What the audit log tells of, by the code of its subtype. */
export const deeds = [
  { value: '', label: 'Everything' },
  { value: 'sign-in', label: 'Signed in' },
  { value: 'sign-out', label: 'Signed out' },
  { value: 'revoke-login', label: 'Ended a session' },
  { value: 'refused', label: 'Was refused' },
  { value: 'invite', label: 'Invited' },
  { value: 'accept', label: 'Accepted an invitation' },
  { value: 'resend-invitation', label: 'Sent an invitation again' },
  { value: 'revoke-invitation', label: 'Revoked an invitation' },
  { value: 'change-member', label: 'Changed a member' },
  { value: 'remove-member', label: 'Removed a member' },
  { value: 'set-password', label: 'Set the password of a member' },
  { value: 'change-password', label: 'Changed their password' },
  { value: 'change-address', label: 'Changed their e-mail address' },
  { value: 'change-user', label: 'Changed their own name' },
  { value: 'enrol-second-factor', label: 'Added a second factor' },
  { value: 'disable-second-factor', label: 'Took the second factor away' },
  { value: 'create-client', label: 'Created an API key' },
  { value: 'create-bot', label: 'Created a Bot' },
  { value: 'deploy', label: 'Deployed a Bot' },
  { value: 'rollback', label: 'Rolled a Bot back' },
  { value: 'change-secrets', label: 'Changed secrets' },
  { value: 'execute', label: 'Executed a Bot' },
  { value: 'change-fetch-hosts', label: 'Changed the hosts that Bots may call' },
  { value: 'created', label: 'Created a record' },
  { value: 'updated', label: 'Changed a record' },
  { value: 'deleted', label: 'Deleted a record' },
  { value: 'transaction', label: 'Wrote several records' },
  { value: 'provision', label: 'Set the project up' },
] as const;

export function deedOf(code: string | undefined): string {
  return deeds.find(({ value }) => value === code)?.label ?? code ?? 'Something';
}
