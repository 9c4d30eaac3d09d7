/** R4 AuditEvent.type of every entry, and the system of our subtypes. */
export const auditType = {
  system: 'http://terminology.hl7.org/CodeSystem/audit-event-type',
  code: 'rest',
  display: 'Restful Operation',
} as const;

/** R4 AuditEvent.purposeOfEvent of what was done with emergency access. */
export const breakTheGlass = {
  coding: [
    {
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason',
      code: 'BTG',
      display: 'break the glass',
    },
  ],
};

const subtypeSystem = 'urn:portico:audit';

export function auditSubtype(code: string): { system: string; code: string } {
  return { system: subtypeSystem, code };
}

/** The subtype of IHE BALP: how something was read. @param code of FHIR's restful-interaction */
export function restfulSubtype(code: string): { system: string; code: string } {
  return { system: 'http://hl7.org/fhir/restful-interaction', code };
}
