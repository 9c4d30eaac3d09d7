import {
  boolean,
  check as checkValue,
  description,
  type InferOutput,
  maxLength,
  minLength,
  picklist,
  pipe,
  rawCheck,
  string,
  transform,
  union,
} from 'valibot';
import type { RefusalIssue } from '../../base/refusal.ts';
import { type ProfileType, parseReference, profileTypes, type Reference } from '../../base/resource.ts';
import { check, fields, flag, optionalField, readText } from '../../base/schema.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import { type Rights, rightsOf } from '../../store/fhir/membership.ts';
import { referenceThat } from '../../store/fhir/stored-resource.ts';
import { normaliseAddress } from '../mail/address.ts';
import { longestPassword, shortestPassword } from '../sign-in/password.ts';
import {
  boundRights,
  controlOrLineEnd,
  fits,
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

type Sent = InferOutput<typeof inviteFields>;

/**
 * What fields must be beside each other, where each is by itself what it must be; told of with the first of them.
 * @param of.text of a refusal, given the fields
 */
function beside<const Name extends keyof Sent & string>(
  names: readonly [Name, ...Name[]],
  of: { holds(sent: Pick<Sent, Name>): boolean; text(sent: Pick<Sent, Name>): string },
) {
  return rawCheck<Sent>(({ dataset: { value, issues = [] }, addIssue }) => {
    const isSound = issues.every(({ path }) => path && !names.some((name) => name === path[0].key));
    const sent = value as Pick<Sent, Name>;
    if (!isSound || of.holds(sent)) return;
    const [key] = names;
    const path = [
      { type: 'object' as const, origin: 'value' as const, input: { ...sent }, key, value: sent[key] },
    ];
    addIssue({ message: of.text(sent), path: [path[0] as (typeof path)[number]] });
  });
}

function ofType(name: keyof typeof boundRights) {
  return beside([name, 'resourceType'], {
    holds: (sent) => fits(name, sent.resourceType, sent[name]),
    text: ({ resourceType }) => boundRights[name].text(resourceType),
  });
}

/** The body of an invite. Beside what each field must be: what fields must be beside each other. */
export const inviteBody = pipe(
  inviteFields,
  beside(['email', 'externalId'], {
    holds: ({ email, externalId }) => (email ?? externalId) !== undefined,
    text: () => emailText,
  }),
  beside(['scope', 'email'], {
    holds: ({ email, scope }) => email !== undefined || scope !== 'server',
    text: () => 'A user without e-mail address must have scope project',
  }),
  beside(['profile', 'resourceType'], {
    holds: ({ profile, resourceType }) =>
      !profile || parseReference(profile.reference)?.type === resourceType,
    text: () => 'Profile resourceType does not match request',
  }),
  ofType('admin'),
  ofType('patient'),
  ofType('emergencyPolicy'),
  ofType('mayGrant'),
  beside(['relationship', 'resourceType'], {
    holds: ({ relationship, resourceType }) => !relationship || resourceType === 'RelatedPerson',
    text: () => 'Only a RelatedPerson has a relationship',
  }),
  beside(['password', 'email', 'scope'], {
    holds: ({ password, email, scope }) => password === undefined || scopeOf(email, scope) === 'project',
    text: () => 'Only the user may set the password of a user above Projects',
  }),
  beside(['newProfile', 'profile'], {
    holds: ({ profile, newProfile }) => !profile || !newProfile,
    text: () => 'Give profile or newProfile, not both',
  }),
);

/** A person without an address lives in the Project that knows them. */
function scopeOf(email: string | undefined, scope: Invite['scope'] = 'server'): Invite['scope'] {
  return email === undefined ? 'project' : scope;
}

/** Checks the body of an invite: either the invite, or one issue per wrong field. Unknown fields are ignored. */
export function parseInvite(body: unknown): { invite: Invite } | { issues: RefusalIssue[] } {
  const { output, issues } = check(inviteBody, withMembership(body));
  if (issues) return { issues };
  const { resourceType: profileType, email, externalId, profile, password } = output;
  return {
    invite: {
      ...{ profileType, firstName: output.firstName, lastName: output.lastName, email, externalId },
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
function withMembership(body: unknown): unknown {
  const sent = fieldsOf(body);
  const { membership } = sent;
  if (!isObject(membership) || Array.isArray(membership)) return body;
  const named = Object.keys(membershipEntries).filter((name) => membership[name] != null);
  return { ...sent, ...Object.fromEntries(named.map((name) => [name, membership[name]])), membership: {} };
}
