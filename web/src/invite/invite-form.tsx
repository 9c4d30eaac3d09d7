import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { useFindByName } from '../api/fhir.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { NameOf } from '../records/value.tsx';
import { type Holder, RightsSummary } from '../rights/rights-summary.tsx';
import { Button, Failure, Notice } from '../ui/basics.tsx';
import { Select, Switch, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import {
  emptyInvite,
  type InviteFields,
  inviteFieldNames,
  inviteRequest,
  inviteTypes,
  relationshipOptions,
  type WhichProfile,
} from './invite-fields.ts';

interface InviteFormProps {
  onInvited(invited: Invited): void;
  onTyping(): void;
}

/** Who is invited, as what, and with which rights. What the service refuses stands at its field; nothing typed is lost. */
export function InviteForm({ onInvited, onTyping }: InviteFormProps) {
  const [fields, setFields] = useKept<InviteFields>('invite', emptyInvite);
  const findPolicies = useFindByName('AccessPolicy');
  const findPatients = useFindByName('Patient');
  const { run, isBusy, message, fieldErrors, existing } = useInvite(onInvited);
  const change = (part: Partial<InviteFields>) => {
    setFields((before) => ({ ...before, ...part }));
    onTyping();
  };
  return (
    <section className="card narrow" aria-label="Invite">
      <Form label="Invite" fieldErrors={fieldErrors} onSubmit={() => void run(fields)}>
        <Select
          label="They are a"
          name="resourceType"
          value={fields.resourceType}
          options={inviteTypes}
          onChange={(resourceType) => change({ resourceType })}
        />
        <div className="form-pair">
          <TextField
            label="First name"
            name="firstName"
            autoComplete="off"
            value={fields.firstName}
            onChange={(firstName) => change({ firstName })}
            isRequired
          />
          <TextField
            label="Last name"
            name="lastName"
            autoComplete="off"
            value={fields.lastName}
            onChange={(lastName) => change({ lastName })}
            isRequired
          />
        </div>
        <TextField
          label="E-mail"
          name="email"
          inputMode="email"
          autoComplete="off"
          help="The invitation goes to this address."
          value={fields.email}
          onChange={(email) => change({ email })}
          isRequired
        />
        {fields.resourceType === 'RelatedPerson' && (
          <>
            <ResourcePicker
              label="Patient"
              name="patient"
              help="The patient they are related to. Until a patient is linked, they can see nobody’s records."
              value={fields.patient}
              onChange={(patient) => change({ patient })}
              find={findPatients}
            />
            <Select
              label="Relationship to the patient"
              name="relationship"
              value={fields.relationship}
              options={relationshipOptions}
              onChange={(relationship) => change({ relationship })}
            />
          </>
        )}
        {fields.resourceType === 'Patient' && (
          <ResourcePicker
            label="Existing patient record"
            name="profile"
            help="Choose it if this person already has a record here. Otherwise a new one is made."
            value={fields.record}
            onChange={(record) => change({ record, ...namesOf(fields, record) })}
            find={findPatients}
          />
        )}
        <ResourcePicker
          label="Access policy"
          name="accessPolicy"
          help="Limits what they can see and do. Leave it empty for the default rights shown below."
          value={fields.policy}
          onChange={(policy) => change({ policy })}
          find={findPolicies}
        />
        {fields.resourceType === 'Practitioner' && (
          <Switch
            isSelected={fields.isAdministrator}
            onChange={(isAdministrator) => change({ isAdministrator })}
            help="May invite, change and remove others."
          >
            Administrator
          </Switch>
        )}
        <Switch
          isSelected={fields.mfaRequired}
          onChange={(mfaRequired) => change({ mfaRequired })}
          help="They add an authenticator app at their first sign-in."
        >
          Second factor required
        </Switch>
        <Switch
          isSelected={fields.sendEmail}
          onChange={(sendEmail) => change({ sendEmail })}
          help="Without an e-mail, only people who already have an account can accept, the next time they sign in."
        >
          Send the invitation by e-mail
        </Switch>
        <RightsSummary
          title={`${fields.firstName.trim() || 'This person'} will be able to do this`}
          holder={holderOf(fields)}
        />
        <Failure message={message} />
        {existing && (
          <ExistingProfiles
            references={existing}
            isBusy={isBusy}
            onChoose={(which) => void run({ ...fields, which })}
          />
        )}
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={isBusy}>
            Invite
          </Button>
        </div>
      </Form>
    </section>
  );
}

/** Whose rights are told before anything is sent; undefined while the policy is only being typed. */
function holderOf({ resourceType, policy, patient, isAdministrator }: InviteFields): Holder | undefined {
  if (policy && 'typed' in policy) return undefined;
  return {
    profileType: resourceType,
    isAdministrator: resourceType === 'Practitioner' && isAdministrator,
    hasPatients: patient !== undefined,
    policy: policy?.resource,
  };
}

/** Names and address of a record that was chosen, where nothing was typed yet. */
function namesOf(fields: InviteFields, record: InviteFields['record']): Partial<InviteFields> {
  if (!record || 'typed' in record) return {};
  const { name, telecom = [] } = record.resource;
  const { given = [], family = '' } = name?.[0] ?? {};
  return {
    firstName: fields.firstName || given.join(' '),
    lastName: fields.lastName || family,
    email: fields.email || (telecom.find(({ system }) => system === 'email')?.value ?? ''),
  };
}

/** The records with the address that an invite was refused for; undefined for any other refusal. */
function existingProfilesOf(error: unknown): string[] | undefined {
  if (!(error instanceof OperationOutcomeError) || error.status !== 409) return undefined;
  const found = error.outcome.issue.flatMap(({ expression, diagnostics }) =>
    expression?.includes('profile') && diagnostics ? [diagnostics] : [],
  );
  return found.length > 0 ? found : undefined;
}

interface ExistingProfilesProps {
  references: readonly string[];
  isBusy: boolean;
  onChoose(which: WhichProfile): void;
}

/** Asks which record is the invited person's: the address in one does not say. */
function ExistingProfiles({ references, isBusy, onChoose }: ExistingProfilesProps) {
  return (
    <Notice kind="plain">
      <p>
        <strong>There is a record with this e-mail address already.</strong> Is this the person you are
        inviting? Whoever accepts will see what is in it.
      </p>
      <div className="buttons">
        {references.map((reference) => (
          <Button key={reference} isPending={isBusy} onPress={() => onChoose({ profile: { reference } })}>
            Use the record of <NameOf reference={reference} />
          </Button>
        ))}
        <Button isPending={isBusy} onPress={() => onChoose({ newProfile: true })}>
          Make a new record
        </Button>
      </div>
    </Notice>
  );
}

/** Invites once; what was refused is told by field, and nothing else is claimed to have happened. */
function useInvite(onInvited: (invited: Invited) => void) {
  const api = useApi();
  const [existing, setExisting] = useState<string[]>();
  const action = useAction(async ({ which, ...fields }: InviteFields & { which?: WhichProfile }) => {
    setExisting(undefined);
    const answer = await api
      .fetch(`${api.admin}/invite`, {
        method: 'POST',
        body: { ...inviteRequest(fields), ...which },
        contentType: 'application/json',
      })
      .catch((error: unknown) => {
        const found = existingProfilesOf(error);
        if (!found) throw error;
        setExisting(found);
      });
    if (!answer) return;
    const membership = (await answer.json()) as ProjectMembership;
    onInvited({ membership, email: fields.email });
  }, inviteFieldNames);
  return { ...action, existing };
}

/** What an invite came to. */
export interface Invited {
  membership: ProjectMembership;
  email: string;
}
