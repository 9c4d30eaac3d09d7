import { useState } from 'react';
import { useFindByName } from '../api/find-resources.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { emptyInvite, type InviteFields, inviteTypes } from './invite-fields.ts';
import type { Invited } from './invite-page.tsx';
import { useInvite } from './use-invite.ts';

interface Props {
  onInvited(invited: Invited): void;
  onTyping(): void;
}

/** Who is invited, as what, and with which rights. What the service refuses stands at its field; nothing typed is lost. */
export function InviteForm({ onInvited, onTyping }: Props) {
  const [fields, setFields] = useState<InviteFields>(emptyInvite);
  const findPolicies = useFindByName('AccessPolicy');
  const findPatients = useFindByName('Patient');
  const { run, isBusy, message, fieldErrors } = useInvite(onInvited);
  const change = (part: Partial<InviteFields>) => {
    setFields((before) => ({ ...before, ...part }));
    onTyping();
  };
  return (
    <section className="card narrow" aria-label="Invite">
      <Form label="Invite" fieldErrors={fieldErrors} onSubmit={() => void run(fields)}>
        <Failure message={message} />
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
          <ResourcePicker
            label="Patient"
            name="patient"
            help="Whom they are related to. Without one they reach nobody's records until one is linked."
            value={fields.patient}
            onChange={(patient) => change({ patient })}
            find={findPatients}
          />
        )}
        <ResourcePicker
          label="Access policy"
          name="accessPolicy"
          help="Type its name. Without one they may do what is usual for their kind."
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
          help="Without a mail, only somebody who has an account already can accept, at their next sign-in."
        >
          Send the invitation by e-mail
        </Switch>
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={isBusy}>
            Invite
          </Button>
        </div>
      </Form>
    </section>
  );
}
