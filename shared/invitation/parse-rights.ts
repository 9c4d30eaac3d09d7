import type { Authentication, MembershipAccess, Rights } from '../fhir/membership.ts';
import { type ProfileType, parseReference, type Reference } from '../fhir/resource.ts';
import { isIssuerUrl } from '../issuer/issuer-url.ts';

/** Records that a field is wrong. */
export type Refuse = (expression: string, text: string) => void;

type Fields = Record<string, unknown>;

const mostPatients = 20;
const mostPolicies = 20;
/** Of `access` as JSON: a membership must fit an item of the table. */
const longestAccessBytes = 32 * 1024;

/**
 * The rights that a body names, at its top or inside `membership`, which wins. What is not named
 * is left out; references are checked for form only.
 */
export function parseRights(
  body: Fields,
  membership: Fields,
  profileType: ProfileType | 'ClientApplication' | 'Bot',
  refuse: Refuse,
): Rights {
  const named = (field: string) => membership[field] ?? body[field] ?? undefined;
  return {
    ...parseAdmin(named('admin'), profileType, refuse),
    ...parseAccessPolicy(named('accessPolicy'), refuse),
    ...parseAccess(named('access'), refuse),
    ...parsePatients(named('patient'), profileType, refuse),
    ...parseAuthentication(named('authentication'), refuse),
    ...parseMfa(named('mfaRequired'), refuse),
  };
}

function parseAdmin(value: unknown, profileType: string, refuse: Refuse): Rights {
  if (value === undefined) return {};
  if (typeof value !== 'boolean') refuse('admin', 'admin must be true or false');
  if (value === true && profileType !== 'Practitioner' && profileType !== 'ClientApplication')
    refuse('admin', `A ${profileType} cannot be an administrator`);
  return { admin: value === true };
}

function parseAccessPolicy(value: unknown, refuse: Refuse): Rights {
  if (value === undefined) return {};
  return { accessPolicy: parseTarget(value, 'AccessPolicy', 'accessPolicy', refuse) };
}

function parseAccess(value: unknown, refuse: Refuse): Rights {
  if (value === undefined) return {};
  if (!Array.isArray(value) || value.length > mostPolicies) {
    refuse('access', `access must be an array of at most ${mostPolicies}`);
    return {};
  }
  if (Buffer.byteLength(JSON.stringify(value)) > longestAccessBytes) {
    refuse('access', `access is longer than ${longestAccessBytes / 1024} KiB`);
    return {};
  }
  return { access: value.map((entry, i) => parseAccessEntry(entry, `access[${i}]`, refuse)) };
}

function parseAccessEntry(entry: unknown, expression: string, refuse: Refuse): MembershipAccess {
  const fields = isFields(entry) ? entry : {};
  const policy = parseTarget(fields.policy, 'AccessPolicy', `${expression}.policy`, refuse);
  if (fields.parameter == null) return { policy };
  const parameters = Array.isArray(fields.parameter) ? fields.parameter : [undefined];
  return {
    policy,
    parameter: parameters.map((one, i) => parseParameter(one, `${expression}.parameter[${i}]`, refuse)),
  };
}

function parseParameter(value: unknown, expression: string, refuse: Refuse) {
  const fields = isFields(value) ? value : {};
  const { name, valueString } = fields;
  const reference = isFields(fields.valueReference)
    ? parseReference(fields.valueReference.reference)
    : undefined;
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
    refuse(`${expression}.name`, 'A parameter needs a name of letters and digits');
  } else if (typeof valueString === 'string') {
    return { name, valueString };
  } else if (reference) {
    return { name, valueReference: { reference: `${reference.type}/${reference.id}` } };
  } else {
    refuse(expression, 'A parameter needs valueString or valueReference');
  }
  return { name: String(name) };
}

function parsePatients(value: unknown, profileType: string, refuse: Refuse): Rights {
  if (value === undefined) return {};
  const list = Array.isArray(value) ? value : [value];
  if (profileType !== 'RelatedPerson') refuse('patient', 'Only a RelatedPerson is invited for patients');
  if (list.length < 1 || list.length > mostPatients)
    refuse('patient', `patient must be 1 to ${mostPatients} references`);
  return {
    patient: list.slice(0, mostPatients).map((one) => parseTarget(one, 'Patient', 'patient', refuse)),
  };
}

function parseAuthentication(value: unknown, refuse: Refuse): Rights {
  if (value === undefined) return {};
  const issuer = isFields(value) ? value.issuer : undefined;
  if (value !== 'password' && !isIssuerUrl(issuer, { onLoopback: true })) {
    refuse('authentication', 'authentication must be "password" or {"issuer": "https://..."}');
  }
  return { authentication: issuer === undefined ? 'password' : ({ issuer } as Authentication) };
}

function parseMfa(value: unknown, refuse: Refuse): Rights {
  if (value === undefined) return {};
  if (typeof value !== 'boolean') refuse('mfaRequired', 'mfaRequired must be true or false');
  return { mfaRequired: value === true };
}

function parseTarget(value: unknown, type: string, expression: string, refuse: Refuse): Reference {
  const fields = isFields(value) ? value : {};
  const target = parseReference(fields.reference);
  if (!target || target.type !== type) {
    refuse(expression, `${expression} must be a reference such as ${type}/123`);
    return { reference: `${type}/none` };
  }
  const display = typeof fields.display === 'string' ? { display: fields.display.slice(0, 200) } : {};
  return { reference: `${type}/${target.id}`, ...display };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
