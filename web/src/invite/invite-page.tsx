import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { type InviteRequest, OperationOutcomeError } from '../../../client/src/index.ts';
import { useFindByName } from '../api/fhir.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { forgetKept } from '../drafts/drafts.ts';
import { invitationOf, mailSentence, outcomeSentence } from '../members/invitation.ts';
import { type Holder, RightsSummary } from '../members/rights-form.tsx';
import { NameOf } from '../records/value.tsx';
import { Button, ButtonLink, Failure, Link, Moment, Notice } from '../ui/basics.tsx';
import { Select, Switch, TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { PolicyPicker, ResourcePicker } from '../ui/resource-picker.tsx';
import {
  emptyInvite,
  type InviteFields,
  inviteRequest,
  inviteTypes,
  relationshipOptions,
} from './invite-fields.ts';

export function InvitePage() {
  const [invited, setInvited] = useState<Invited>();
  const [round, setRound] = useState(0);
  return (
    <Page
      title="Invite somebody"
      actions={<ButtonLink label="Invite many from a file" href="/invite/many" kind="plain" />}
    >
      {invited && <InviteResult invited={invited} />}
      <InviteForm
        key={round}
        onInvited={(done) => {
          forgetKept('invite');
          setInvited(done);
          setRound(round + 1);
        }}
        onTyping={() => setInvited(undefined)}
      />
    </Page>
  );
}

interface Invited {
  membership: ProjectMembership;
  email: string;
}

function InviteResult({ invited: { membership, email } }: { invited: Invited }) {
  const invitation = invitationOf(membership);
  const name = membership.profile?.display ?? email;
  return (
    <Notice kind="good" takesFocus>
      <p>
        {invitation?.outcome && <strong>{outcomeSentence(name, invitation.outcome)}</strong>}{' '}
        {invitation?.state === 'pending' && (
          <>
            {mailSentence(email, invitation)} The invitation is valid until <Moment at={invitation.expires} />
            .
          </>
        )}
      </p>
      <Link href={`/members/${membership.id}`}>See {name}</Link>
    </Notice>
  );
}

type WhichProfile = Pick<InviteRequest, 'profile' | 'newProfile'>;

/**
 * Who is invited, as what, and with which rights; they are invited once. What the service refuses stands at its field;
 * nothing typed is lost.
 */
function InviteForm({ onInvited, onTyping }: { onInvited(invited: Invited): void; onTyping(): void }) {
  const { admin, send } = useApi();
  const findPatients = useFindByName('Patient');
  const [existing, setExisting] = useState<string[]>();
  const invite = async (fields: InviteFields, which?: WhichProfile) => {
    setExisting(undefined);
    try {
      const body = { ...inviteRequest(fields), ...which };
      const membership = await send<ProjectMembership>('POST', `${admin}/invite`, body);
      onInvited({ membership, email: fields.email });
    } catch (error) {
      const found = existingProfilesOf(error);
      if (!found) throw error;
      setExisting(found);
    }
  };
  const form = useForm(emptyInvite, invite, { keptAs: 'invite', onTyping });
  const again = useAction((which: WhichProfile) => invite(form.values, which));
  const { resourceType, firstName } = form.values;
  return (
    <FormCard label="Invite" action={form} submit="Invite">
      <Select label="They are a" options={inviteTypes} {...form.field('resourceType')} />
      <div className="form-pair">
        <TextField label="First name" {...form.field('firstName')} isRequired />
        <TextField label="Last name" {...form.field('lastName')} isRequired />
      </div>
      <TextField label="E-mail" inputMode="email" {...form.field('email')} isRequired>
        The invitation goes to this address.
      </TextField>
      {resourceType === 'RelatedPerson' && (
        <>
          <ResourcePicker label="Patient" {...form.field('patient')} find={findPatients}>
            The patient they are related to. Until a patient is linked, they can see nobody’s records.
          </ResourcePicker>
          <Select
            label="Relationship to the patient"
            options={relationshipOptions}
            {...form.field('relationship')}
          />
        </>
      )}
      {resourceType === 'Patient' && (
        <ResourcePicker
          label="Existing patient record"
          {...form.field('profile')}
          onChange={(profile) => form.change({ profile, ...namesOf(form.values, profile) })}
          find={findPatients}
        >
          Choose it if this person already has a record here. Otherwise a new one is made.
        </ResourcePicker>
      )}
      <PolicyPicker {...form.field('accessPolicy')}>
        Limits what they can see and do. Leave it empty for the default rights shown below.
      </PolicyPicker>
      {resourceType === 'Practitioner' && (
        <Switch label="Administrator" {...form.toggle('admin')}>
          May invite, change and remove others.
        </Switch>
      )}
      <Switch label="Second factor required" {...form.toggle('mfaRequired')}>
        They add an authenticator app at their first sign-in.
      </Switch>
      <Switch label="Send the invitation by e-mail" {...form.toggle('sendEmail')}>
        Without an e-mail, only people who already have an account can accept, the next time they sign in.
      </Switch>
      <RightsSummary
        title={`${firstName.trim() || 'This person'} will be able to do this`}
        holder={holderOf(form.values)}
      />
      <Failure message={again.message} />
      {existing && <ExistingProfiles references={existing} isBusy={again.isBusy} onChoose={again.run} />}
    </FormCard>
  );
}

function holderOf({ resourceType, accessPolicy: policy, patient, admin }: InviteFields): Holder | undefined {
  if (policy && 'typed' in policy) return undefined;
  return {
    profileType: resourceType,
    isAdministrator: resourceType === 'Practitioner' && admin,
    hasPatients: patient !== undefined,
    policy: policy?.resource,
  };
}

function namesOf(fields: InviteFields, record: InviteFields['profile']): Partial<InviteFields> {
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
