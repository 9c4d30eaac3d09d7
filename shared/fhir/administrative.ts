/** Types that hold identity, Bots' settings, policies and audit; every other one may be a record of care. */
export const administrativeTypes = [
  'AccessPolicy',
  'AuditEvent',
  'Bot',
  'ClientApplication',
  'Project',
  'ProjectMembership',
  'User',
] as const;

export function isAdministrative(type: string): boolean {
  return administrativeTypes.some((one) => one === type);
}
