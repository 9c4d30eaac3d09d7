import { useFindByName } from '../api/find-resources.ts';
import { useKept } from '../drafts/use-kept.ts';
import { RightsSummary } from '../rights/rights-summary.tsx';
import type { Holder } from '../rights/rights-words.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ExistingProfiles } from './existing-profiles.tsx';
import { emptyInvite, type InviteFields, inviteTypes } from './invite-fields.ts';
import type { Invited } from './invited.ts';
import { relationshipOptions } from './relationships.ts';
import { useInvite } from './use-invite.ts';

interface Props {
  onInvited(invited: Invited): void;
  onTyping(): void;
}

/** Who is invited, as what, and with which rights. What the service refuses stands at its field; nothing typed is lost. */
export function InviteForm({ onInvited, onTyping }: Props) {
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
