import { normaliseAddress } from '../email/address.ts';
import type { Rights } from '../fhir/membership.ts';
import { isProfileType, type ProfileType, parseReference, type Reference } from '../fhir/resource.ts';
import { longestPassword, shortestPassword } from '../login/password.ts';
import type { RefusalIssue } from '../refusal.ts';
import { controlOrLineEnd, parseName } from './parse-name.ts';
import { parseRelationship, type Relationship } from './parse-relationship.ts';
import { parseRights, type Refuse } from './parse-rights.ts';

/** A checked invite. Only the rights that were named are there. */
export interface Invite {
  profileType: ProfileType;
  firstName: string;
  lastName: string;
  /** Normalised. */
  email: string | undefined;
  externalId: string | undefined;
  scope: 'server' | 'project';
  sendEmail: boolean;
  rights: Rights;
  /** An existing profile to bind instead of creating one. */
  profile: Reference | undefined;
  /** Of a new RelatedPerson. */
  relationship?: Relationship | undefined;
  /** Makes a profile though there is one with this address, or one noted from an earlier membership. */
  newProfile: boolean;
  upsert: boolean;
  forceNewMembership: boolean;
  password: string | undefined;
}

type Fields = Record<string, unknown>;

/** Checks the body of an invite: either the invite, or one issue per wrong field. Unknown fields are ignored. */
export function parseInvite(body: unknown): { invite: Invite } | { issues: RefusalIssue[] } {
  const issues: RefusalIssue[] = [];
  const refuse: Refuse = (expression, text) => {
    issues.push({ expression, text });
  };
  if (!isFields(body)) return { issues: [{ text: 'The body must be a JSON object' }] };
  const membership = isFields(body.membership) ? body.membership : {};
  if (body.membership != null && !isFields(body.membership))
    refuse('membership', 'Membership must be an object');

  const profileType = parseProfileType(body.resourceType, refuse);
  const { email, externalId } = parseLogin(body, membership, refuse);
  const scope = parseScope(body.scope, email, externalId, refuse);
  const invite: Invite = {
    profileType,
    firstName: parseName(body.firstName, 'firstName', 'First name', refuse),
    lastName: parseName(body.lastName, 'lastName', 'Last name', refuse),
    email,
    externalId,
    scope,
    sendEmail: parseSendEmail(body.sendEmail, refuse),
    rights: parseRights(body, membership, profileType, refuse),
    profile: parseProfile(membership.profile ?? body.profile, profileType, refuse),
    relationship: parseRelationship(body.relationship, profileType, refuse),
    newProfile: parseFlag(body, 'newProfile', refuse),
    upsert: parseFlag(body, 'upsert', refuse),
    forceNewMembership: parseFlag(body, 'forceNewMembership', refuse),
    password: parsePassword(body.password, scope, refuse),
  };
  if (invite.profile && invite.newProfile) refuse('newProfile', 'Give profile or newProfile, not both');
  return issues.length > 0 ? { issues } : { invite };
}

function parseProfileType(value: unknown, refuse: Refuse): ProfileType {
  if (isProfileType(value)) return value;
  refuse(
    'resourceType',
    value == null
      ? 'Resource type is required'
      : 'Resource type must be Patient, Practitioner or RelatedPerson',
  );
  return 'Patient';
}

function parseLogin(body: Fields, membership: Fields, refuse: Refuse) {
  const externalId = membership.externalId ?? body.externalId ?? undefined;
  const email = typeof body.email === 'string' ? normaliseAddress(body.email) : undefined;
  if (body.email == null ? externalId === undefined : email === undefined) {
    refuse('email', 'Valid email address is required');
  }
  if (externalId !== undefined && (typeof externalId !== 'string' || externalId.trim() === '')) {
    refuse('externalId', 'External ID cannot be empty');
  } else if (
    typeof externalId === 'string' &&
    (externalId.length > 255 || controlOrLineEnd.test(externalId))
  ) {
    refuse('externalId', 'External ID must be up to 255 characters without control characters');
  }
  return { email, externalId: externalId as string | undefined };
}

function parseScope(
  value: unknown,
  email: string | undefined,
  externalId: string | undefined,
  refuse: Refuse,
) {
  if (value != null && value !== 'server' && value !== 'project')
    refuse('scope', 'Scope must be server or project');
  if (externalId !== undefined && email === undefined) {
    if (value === 'server') refuse('scope', 'A user without e-mail address must have scope project');
    return 'project';
  }
  return value === 'project' ? 'project' : 'server';
}

function parseSendEmail(value: unknown, refuse: Refuse): boolean {
  if (value == null || value === true || value === 'true') return true;
  if (value !== false && value !== 'false') refuse('sendEmail', 'sendEmail must be true or false');
  return false;
}

function parseFlag(body: Fields, field: string, refuse: Refuse): boolean {
  const value = body[field];
  if (value != null && typeof value !== 'boolean') refuse(field, `${field} must be true or false`);
  return value === true;
}

function parseProfile(value: unknown, profileType: ProfileType, refuse: Refuse): Reference | undefined {
  if (value == null) return undefined;
  const reference = isFields(value) ? value.reference : undefined;
  const target = parseReference(reference);
  if (!target) refuse('profile', 'Profile must be a reference such as Patient/123');
  else if (target.type !== profileType) refuse('profile', 'Profile resourceType does not match request');
  return { reference: String(reference) };
}

function parsePassword(value: unknown, scope: Invite['scope'], refuse: Refuse): string | undefined {
  if (value == null) return undefined;
  if (scope === 'server') {
    refuse('password', 'Only the user may set the password of a user above Projects');
  } else if (typeof value !== 'string' || value.length < shortestPassword || value.length > longestPassword) {
    refuse('password', `Password must be ${shortestPassword} to ${longestPassword} characters`);
  }
  return String(value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
