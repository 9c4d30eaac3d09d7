import { useCallback, useState } from 'react';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { useSession } from '../session/session-context.tsx';
import { RecoveryCodes, SecretToScan, TokenField } from '../sign-in/second-factor.tsx';
import { Badge, Button, Details, Failure, Loading, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';

/** Who is signed in, and what they alone may change. */
export function AccountPage() {
  const { me } = useSession();
  const { membership, project, user } = me;
  return (
    <Page title="Your account">
      <section className="card" aria-label="Who you are here">
        <Details
          items={[
            ['Name', membership.profile?.display ?? ''],
            ['E-mail', user?.email ?? 'none'],
            ['Project', project.name ?? project.id],
            ['Joined as', profileType(membership.profile?.reference)],
            ['Role', <Badge key="role">{membership.admin ? 'Administrator' : 'Member'}</Badge>],
          ]}
        />
      </section>
      <PasswordCard />
      <SecondFactorCard />
      {user && <AddressCard />}
    </Page>
  );
}

/** A new address holds once the mail that goes there was answered; until then nothing changes. */
function AddressCard() {
  const { fetch } = useApi();
  const { me } = useSession();
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string>();
  const change = useAction(async () => {
    setSentTo(undefined);
    await fetch(`fhir/R4/User/${me.user?.id}`, {
      method: 'PATCH',
      body: [{ op: 'replace', path: '/email', value: email }],
      contentType: 'application/json-patch+json',
    });
    setSentTo(email);
  }, ['email']);
  return (
    <section className="card narrow" aria-labelledby="address">
      <h2 id="address">E-mail address</h2>
      <Form label="E-mail address" fieldErrors={change.fieldErrors} onSubmit={() => change.run()}>
        <Failure message={change.message} />
        {sentTo && (
          <Notice kind="good">
            An e-mail to {sentTo} is queued. Follow its link within a day to use that address.
          </Notice>
        )}
        <TextField
          label="New e-mail address"
          name="email"
          type="email"
          autoComplete="email"
          value={email}
          onChange={setEmail}
          isRequired
        />
        <div>
          <Button type="submit" kind="primary" isPending={change.isBusy}>
            Send the link
          </Button>
        </div>
      </Form>
    </section>
  );
}

function PasswordCard() {
  const { send } = useApi();
  const [oldPassword, setOld] = useState('');
  const [newPassword, setNew] = useState('');
  const [isDone, setDone] = useState(false);
  const change = useAction(async () => {
    setDone(false);
    await send('POST', 'auth/changepassword', { oldPassword, newPassword });
    setOld('');
    setNew('');
    setDone(true);
  }, ['oldPassword', 'newPassword']);
  return (
    <section className="card narrow" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Form label="Password" fieldErrors={change.fieldErrors} onSubmit={() => change.run()}>
        <Failure message={change.message} />
        {isDone && <Notice kind="good">Changed. You are signed out everywhere else.</Notice>}
        <PasswordField
          label="Old password"
          name="oldPassword"
          autoComplete="current-password"
          value={oldPassword}
          onChange={setOld}
          isRequired
        />
        <PasswordField
          label="New password"
          name="newPassword"
          help="At least 8 characters. A few words make a good one."
          autoComplete="new-password"
          minLength={8}
          value={newPassword}
          onChange={setNew}
          isRequired
        />
        <div>
          <Button type="submit" kind="primary" isPending={change.isBusy}>
            Change the password
          </Button>
        </div>
      </Form>
    </section>
  );
}

type Enrolled = { enrolled: true; recoveryCodes: number };
type MfaStatus = Enrolled | { enrolled: false; enrollUri: string; enrollQrCode: string };

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
    <section className="card narrow" aria-labelledby="second-factor">
      <h2 id="second-factor">Second factor</h2>
      {isWanted ? (
        <Status onRemoved={() => setWanted(false)} />
      ) : (
        <>
          <p>You sign in with your password alone. An authenticator app makes sure that it is you.</p>
          <div>
            <Button kind="primary" onPress={() => setWanted(true)}>
              Set one up
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

function Status({ onRemoved }: { onRemoved(): void }) {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<MfaStatus>('auth/mfa/status', signal), [api]);
  const loaded = useLoad(load);
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
  const [token, setToken] = useState('');
  const [deed, setDeed] = useState(status.enrolled ? renew : enrol);
  const change = useAction(
    async ({ path }: Deed) => {
      const { recoveryCodes = [] } = await send<{ recoveryCodes?: string[] }>('POST', path, { token });
      setToken('');
      onChange(recoveryCodes);
    },
    ['token'],
  );
  return (
    <Form label="Second factor" fieldErrors={change.fieldErrors} onSubmit={() => change.run(deed)}>
      {status.enrolled ? <HowEnrolled {...status} /> : <ToScan {...status} />}
      <Failure message={change.message} />
      <TokenField value={token} onChange={setToken} orRecovery={status.enrolled} />
      <div>
        {(status.enrolled ? [renew, disable] : [enrol]).map((one) => (
          <Button
            key={one.path}
            type="submit"
            kind={one === disable ? 'danger' : 'primary'}
            isPending={change.isBusy && one === deed}
            onPress={() => setDeed(one)}
          >
            {one.label}
          </Button>
        ))}
      </div>
    </Form>
  );
}

function HowEnrolled({ recoveryCodes }: Enrolled) {
  return (
    <>
      <p>You sign in with your password and a code of your authenticator app.</p>
      <p>
        {recoveryCodes === 0
          ? 'You have no recovery codes: without your phone you could not sign in.'
          : `You have ${recoveryCodes} recovery codes for when you do not have your phone.`}
      </p>
    </>
  );
}

function ToScan({ enrollUri, enrollQrCode }: { enrollUri: string; enrollQrCode: string }) {
  return (
    <>
      <p>Scan this with an authenticator app and type the code that it shows:</p>
      <SecretToScan uri={enrollUri} qrCode={enrollQrCode} />
    </>
  );
}
