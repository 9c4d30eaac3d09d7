export interface Reference {
  reference: string;
  display?: string;
}

/** A policy and the values of its parameters. */
export interface InviteAccess {
  policy: Reference;
  parameter?: { name: string; valueString?: string; valueReference?: Reference }[];
}

/** Who is invited, and with which rights. */
export interface InviteRequest {
  resourceType: 'Patient' | 'Practitioner' | 'RelatedPerson';
  firstName: string;
  lastName: string;
  /** This or `externalId` must be there. */
  email?: string;
  externalId?: string;
  /** True when left out. */
  sendEmail?: boolean;
  /** Makes the person an administrator of the Project. */
  admin?: boolean;
  accessPolicy?: Reference;
  access?: InviteAccess[];
  /** Whom a RelatedPerson is related to. */
  patient?: Reference | Reference[];
  /** How a RelatedPerson is related to them: a CodeableConcept, or its text alone. */
  relationship?: string | { coding?: { system: string; code: string; display?: string }[]; text?: string };
  /** An existing profile that nobody uses yet. */
  profile?: Reference;
  /** Makes a new profile though one with this address is there; without it that is a 409. */
  newProfile?: boolean;
  scope?: 'server' | 'project';
  /** How the person must sign in. */
  authentication?: 'password' | { issuer: string };
  mfaRequired?: boolean;
  /** Changes the rights of somebody who is a member or invited already, instead of a 409. */
  upsert?: boolean;
  /** Allows a second membership of another type. */
  forceNewMembership?: boolean;
  membership?: { admin?: boolean; accessPolicy?: Reference; access?: InviteAccess[]; profile?: Reference };
}

/** Who somebody is inside a Project. Pending until `active`. */
export interface ProjectMembership {
  resourceType: 'ProjectMembership';
  id: string;
  project: Reference;
  user: Reference;
  profile: Reference;
  active?: boolean;
  admin?: boolean;
  accessPolicy?: Reference;
  access?: InviteAccess[];
  externalId?: string;
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
