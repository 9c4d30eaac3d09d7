import {
  boolean,
  check as checkValue,
  description,
  forward,
  maxLength,
  minLength,
  partialCheck,
  picklist,
  pipe,
  string,
  transform,
  union,
} from 'valibot';
import type { RefusalIssue } from '../../base/refusal.ts';
import { type ProfileType, parseReference, profileTypes, type Reference } from '../../base/resource.ts';
import { check, fields, flag, optionalField, readText } from '../../base/schema.ts';
import { type Rights, rightsOf } from '../../store/fhir/membership.ts';
import { referenceThat } from '../../store/fhir/stored-resource.ts';
import { normaliseAddress } from '../mail/address.ts';
import { longestPassword, shortestPassword } from '../sign-in/password.ts';
import {
  controlOrLineEnd,
  mayBeAdmin,
  mayHaveEmergencies,
  mayHavePatients,
  noEmergencies,
  noGrants,
  noPatients,
  notAdmin,
  personName,
  type Relationship,
  relationship,
  rightsEntries,
} from './parse-rights.ts';

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

const emailText = 'Valid email address is required';
const externalIdText = 'External ID cannot be empty';
const passwordText = `Password must be ${shortestPassword} to ${longestPassword} characters`;

/** What may stand inside `membership` too, where it wins. */
const membershipEntries = {
  externalId: optionalField(
    pipe(
      string(externalIdText),
      checkValue((id) => id.trim() !== '', externalIdText),
      checkValue(
        (id) => id.length <= 255 && !controlOrLineEnd.test(id),
        'External ID must be up to 255 characters without control characters',
      ),
      description('Another name for the person, from your own system; instead of an address, or beside it'),
    ),
  ),
  ...rightsEntries,
  profile: optionalField(
    pipe(
      referenceThat('Profile must be a reference such as Patient/123'),
      description('An existing profile to bind instead of creating one'),
    ),
  ),
};

const inviteFields = fields({
  resourceType: picklist(profileTypes, ({ input }) =>
    input == null
      ? 'Resource type is required'
      : 'Resource type must be Patient, Practitioner or RelatedPerson',
  ),
  email: optionalField(readText(emailText, normaliseAddress)),
  scope: optionalField(
    pipe(
      picklist(['server', 'project'], 'Scope must be server or project'),
      description('`project` makes a User that lives in this Project only'),
    ),
  ),
  firstName: personName('First name'),
  lastName: personName('Last name'),
  sendEmail: optionalField(
    pipe(
      union([boolean(), picklist(['true', 'false'])], 'sendEmail must be true or false'),
      transform((given) => String(given) === 'true'),
    ),
  ),
  ...membershipEntries,
  relationship: optionalField(pipe(relationship, description('Of a new RelatedPerson'))),
  newProfile: optionalField(flag('newProfile')),
  upsert: optionalField(flag('upsert')),
  forceNewMembership: optionalField(flag('forceNewMembership')),
  password: optionalField(
    pipe(
      string(passwordText),
      minLength(shortestPassword, passwordText),
      maxLength(longestPassword, passwordText),
      description('Of a User that lives in this Project only'),
    ),
  ),
  membership: optionalField(fields(membershipEntries, 'Membership must be an object')),
});

/** The body of an invite. Beside what each field must be: what fields must be beside each other. */
export const inviteBody = pipe(
  inviteFields,
  forward(
    partialCheck(
      [['email'], ['externalId']],
      ({ email, externalId }) => (email ?? externalId) !== undefined,
      emailText,
    ),
    ['email'],
  ),
  forward(
    partialCheck(
      [['email'], ['scope']],
      ({ email, scope }) => email !== undefined || scope !== 'server',
      'A user without e-mail address must have scope project',
    ),
    ['scope'],
  ),
  forward(
    partialCheck(
      [['profile'], ['resourceType']],
      ({ profile, resourceType }) => !profile || parseReference(profile.reference)?.type === resourceType,
      'Profile resourceType does not match request',
    ),
    ['profile'],
  ),
  forward(
    partialCheck(
      [['admin'], ['resourceType']],
      ({ admin, resourceType }) => !admin || mayBeAdmin(resourceType),
      ({ input }) => notAdmin(input.resourceType),
    ),
    ['admin'],
  ),
  forward(
    partialCheck(
      [['patient'], ['resourceType']],
      ({ patient, resourceType }) => !patient || mayHavePatients(resourceType),
      noPatients,
    ),
    ['patient'],
  ),
  forward(
    partialCheck(
      [['emergencyPolicy'], ['resourceType']],
      ({ emergencyPolicy, resourceType }) => !emergencyPolicy || mayHaveEmergencies(resourceType),
      noEmergencies,
    ),
    ['emergencyPolicy'],
  ),
  forward(
    partialCheck(
      [['mayGrant'], ['resourceType']],
      ({ mayGrant, resourceType }) => !mayGrant?.length || mayBeAdmin(resourceType),
      ({ input }) => noGrants(input.resourceType),
    ),
    ['mayGrant'],
  ),
  forward(
    partialCheck(
      [['relationship'], ['resourceType']],
      ({ relationship, resourceType }) => !relationship || resourceType === 'RelatedPerson',
      'Only a RelatedPerson has a relationship',
    ),
    ['relationship'],
  ),
  forward(
    partialCheck(
      [['password'], ['email'], ['scope']],
      ({ password, email, scope }) => password === undefined || scopeOf(email, scope) === 'project',
      'Only the user may set the password of a user above Projects',
    ),
    ['password'],
  ),
  forward(
    partialCheck(
      [['profile'], ['newProfile']],
      ({ profile, newProfile }) => !profile || !newProfile,
      'Give profile or newProfile, not both',
    ),
    ['newProfile'],
  ),
);

/** A person without an address lives in the Project that knows them. */
function scopeOf(email: string | undefined, scope: Invite['scope'] = 'server'): Invite['scope'] {
  return email === undefined ? 'project' : scope;
}

type Fields = Record<string, unknown>;

/** Checks the body of an invite: either the invite, or one issue per wrong field. Unknown fields are ignored. */
export function parseInvite(body: unknown): { invite: Invite } | { issues: RefusalIssue[] } {
  const { output, issues } = check(inviteBody, isFields(body) ? withMembership(body) : body);
  if (issues) return { issues };
  const { resourceType: profileType, email, externalId, profile, password } = output;
  return {
    invite: {
      profileType,
      firstName: output.firstName,
      lastName: output.lastName,
      email,
      externalId,
      scope: scopeOf(email, output.scope),
      sendEmail: output.sendEmail ?? true,
      rights: rightsOf(output),
      profile: profile && { reference: profile.reference },
      relationship: output.relationship,
      newProfile: output.newProfile ?? false,
      upsert: output.upsert ?? false,
      forceNewMembership: output.forceNewMembership ?? false,
      password,
    },
  };
}

/** What stands inside `membership` goes before what stands beside it. */
function withMembership(body: Fields): Fields {
  const { membership } = body;
  if (!isFields(membership)) return body;
  const named = Object.keys(membershipEntries).filter((name) => membership[name] != null);
  return { ...body, ...Object.fromEntries(named.map((name) => [name, membership[name]])), membership: {} };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
