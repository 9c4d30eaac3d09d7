export interface Reference {
  reference: string;
  display?: string;
}

/** A policy and the values of its parameters. */
export interface InviteAccess {
  policy: Reference;
  parameter?: { name: string; valueString?: string; valueReference?: Reference }[];
}

/** What a membership allows, and what it asks of sign-ins. */
export interface InviteRights {
  /** Makes the person an administrator of the Project. */
  admin?: boolean;
  accessPolicy?: Reference;
  access?: InviteAccess[];
  /** A policy that is added while the person has emergency access. */
  emergencyPolicy?: Reference;
  /** Policies that an administrator may give beside what their own allows. */
  mayGrant?: Reference[];
  /** Whom a RelatedPerson is related to. */
  patient?: Reference | Reference[];
  /** How the person must sign in. */
  authentication?: 'password' | { issuer: string };
  mfaRequired?: boolean;
}

/** Who is invited, and with which rights. */
export interface InviteRequest extends InviteRights {
  resourceType: 'Patient' | 'Practitioner' | 'RelatedPerson';
  firstName: string;
  lastName: string;
  /** This or `externalId` must be there. */
  email?: string;
  externalId?: string;
  /** True when left out. */
  sendEmail?: boolean;
  /** How a RelatedPerson is related to the patient: a CodeableConcept, or its text alone. */
  relationship?: string | { coding?: { system: string; code: string; display?: string }[]; text?: string };
  /** An existing profile that nobody uses yet. */
  profile?: Reference;
  /** Makes a new profile though one with this address is there; without it that is a 409. */
  newProfile?: boolean;
  scope?: 'server' | 'project';
  /** Of a User that lives in this Project only. */
  password?: string;
  /** Changes the rights of somebody who is a member or invited already, instead of a 409. */
  upsert?: boolean;
  /** Allows a second membership of another type. */
  forceNewMembership?: boolean;
  /** What stands here goes before what stands beside it. */
  membership?: InviteRights & Pick<InviteRequest, 'externalId' | 'profile'>;
}

/** Who somebody is inside a Project. Pending until `active`. */
export interface ProjectMembership extends Omit<InviteRights, 'patient'> {
  resourceType: 'ProjectMembership';
  id: string;
  project: Reference;
  user: Reference;
  profile: Reference;
  active?: boolean;
  patient?: Reference[];
  externalId?: string;
  /** The address that the Project knows the person by. */
  userName?: string;
  invitedBy?: Reference;
  /** `urn:portico:extension:invitation`: state, end, whether mail was asked for, and what the invite did. */
  extension?: InviteExtension[];
}

export interface InviteExtension {
  url: string;
  valueCode?: string;
  valueInstant?: string;
  valueBoolean?: boolean;
  extension?: InviteExtension[];
}
