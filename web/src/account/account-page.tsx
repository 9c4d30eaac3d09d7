import { useState } from 'react';
import { useApi, useGet } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { useSession } from '../session/session-state.ts';
import { RecoveryCodes, SecretToScan, TokenField } from '../sign-in/next-step.tsx';
import { Badge, Button, Card, Details, Loading } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form, FormCard, useForm } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';

/** Who is signed in, and what they alone may change. */
export function AccountPage() {
  const { membership, project, user } = useSession().me;
  return (
    <Page title="Your account">
      <Card label="Who you are here">
        <Details
          of={{
            Name: membership.profile?.display ?? '',
            'E-mail': user?.email ?? 'none',
            Project: project.name ?? project.id,
            'Joined as': profileType(membership.profile?.reference),
            Role: <Badge>{membership.admin ? 'Administrator' : 'Member'}</Badge>,
          }}
        />
      </Card>
      <PasswordCard />
      <SecondFactorCard />
      {user && <AddressCard userId={user.id} />}
    </Page>
  );
}

/** A new address holds once the mail that goes there was answered; until then nothing changes. */
function AddressCard({ userId }: { userId: string }) {
  const { send } = useApi();
  const change = useForm({ email: '' }, ({ email }) =>
    send('PATCH', `fhir/R4/User/${userId}`, [{ op: 'replace', path: '/email', value: email }]),
  );
  return (
    <FormCard
      title="E-mail address"
      action={change}
      submit="Send the link"
      saved={`An e-mail to ${change.values.email} is queued. Follow its link within a day to use that address.`}
    >
      <TextField
        label="New e-mail address"
        type="email"
        autoComplete="email"
        {...change.field('email')}
        isRequired
      />
    </FormCard>
  );
}

const passwords = { oldPassword: '', newPassword: '' };

function PasswordCard() {
  const { send } = useApi();
  const change = useForm(passwords, async (typed) => {
    await send('POST', 'auth/changepassword', typed);
    change.clearFields();
  });
  return (
    <FormCard
      title="Password"
      action={change}
      submit="Change the password"
      saved="Changed. You are signed out everywhere else."
    >
      <PasswordField label="Old password" {...change.field('oldPassword')} isRequired />
      <PasswordField label="New password" isNew {...change.field('newPassword')} isRequired />
    </FormCard>
  );
}

type MfaStatus =
  | { enrolled: true; recoveryCodes: number }
  | { enrolled: false; enrollUri: string; enrollQrCode: string };

interface Deed {
  path: string;
  label: string;
}

const enrol: Deed = { path: 'auth/mfa/enroll', label: 'Add the second factor' };
const renew: Deed = { path: 'auth/mfa/recovery-codes', label: 'Make new recovery codes' };
const disable: Deed = { path: 'auth/mfa/disable', label: 'Take it away' };

/** A code of an authenticator app beside the password: added, or taken away; and codes for when the phone is lost. */
function SecondFactorCard() {
  const { me } = useSession();
  // The secret is shown to who has just signed in: nobody is asked for that before they want it.
  const [isWanted, setWanted] = useState(me.security?.mfaEnrolled === true);
  return (
    <Card title="Second factor" className="card narrow">
      {isWanted ? (
        <Status onRemoved={() => setWanted(false)} />
      ) : (
        <>
          <p>You sign in with your password alone. An authenticator app makes sure that it is you.</p>
          <Button kind="primary" onPress={() => setWanted(true)}>
            Set one up
          </Button>
        </>
      )}
    </Card>
  );
}

function Status({ onRemoved }: { onRemoved(): void }) {
  const loaded = useGet<MfaStatus>('auth/mfa/status');
  const [codes, setCodes] = useState<readonly string[]>([]);
  const changed = (shown: readonly string[]) => {
    if (shown.length === 0) return onRemoved();
    setCodes(shown);
    loaded.reload();
  };
  return (
    <>
      {codes[0] && <RecoveryCodes key={codes[0]} codes={codes} heading="h3" />}
      <Loading of={loaded}>
        {(status) => <SecondFactor key={String(status.enrolled)} status={status} onChange={changed} />}
      </Loading>
    </>
  );
}

function SecondFactor({ status, onChange }: { status: MfaStatus; onChange(codes: readonly string[]): void }) {
  const { send } = useApi();
  const deeds = status.enrolled ? [renew, disable] : [enrol];
  const [deed, setDeed] = useState(deeds[0]);
  const change = useForm({ token: '' }, async (typed) => {
    const { recoveryCodes = [] } = await send<{ recoveryCodes?: string[] }>('POST', deed?.path ?? '', typed);
    change.clearFields();
    onChange(recoveryCodes);
  });
  const buttons = deeds.map((one) => (
    <Button
      key={one.path}
      type="submit"
      kind={one === disable ? 'danger' : 'primary'}
      isPending={change.isBusy && one === deed}
      onPress={() => setDeed(one)}
    >
      {one.label}
    </Button>
  ));
  return (
    <Form label="Second factor" action={change} buttons={<div>{buttons}</div>}>
      {status.enrolled ? (
        <>
          <p>You sign in with your password and a code of your authenticator app.</p>
          <p>
            {status.recoveryCodes === 0
              ? 'You have no recovery codes: without your phone you could not sign in.'
              : `You have ${status.recoveryCodes} recovery codes for when you do not have your phone.`}
          </p>
        </>
      ) : (
        <>
          <p>Scan this with an authenticator app and type the code that it shows:</p>
          <SecretToScan uri={status.enrollUri} qrCode={status.enrollQrCode} />
        </>
      )}
      <TokenField {...change.field('token')} orRecovery={status.enrolled} />
    </Form>
  );
}
