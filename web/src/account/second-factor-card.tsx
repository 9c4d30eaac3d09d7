import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { SecretToScan } from '../sign-in/secret-to-scan.tsx';
import { TokenField } from '../sign-in/token-field.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure } from '../ui/notice.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

type Enrolled = { enrolled: true; recoveryCodes: number };
type Status = Enrolled | { enrolled: false; enrollUri: string; enrollQrCode: string };

interface Deed {
  path: string;
  label: string;
}

const enrol: Deed = { path: 'auth/mfa/enroll', label: 'Add the second factor' };
const renew: Deed = { path: 'auth/mfa/recovery-codes', label: 'Make new recovery codes' };
const disable: Deed = { path: 'auth/mfa/disable', label: 'Take it away' };

/** A code of an authenticator app beside the password: added, or taken away; and codes for when the phone is lost. */
export function SecondFactorCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<Status>('auth/mfa/status', signal), [api]);
  const loaded = useLoad(load);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const changed = (shown: readonly string[]) => {
    setCodes(shown);
    loaded.reload();
  };
  return (
    <section className="card narrow" aria-labelledby="second-factor">
      <h2 id="second-factor">Second factor</h2>
      {codes[0] && <RecoveryCodes key={codes[0]} codes={codes} heading="h3" />}
      <Loading of={loaded}>
        {(status) => <SecondFactor key={String(status.enrolled)} status={status} onChange={changed} />}
      </Loading>
    </section>
  );
}

function SecondFactor({ status, onChange }: { status: Status; onChange(codes: readonly string[]): void }) {
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
      <p>You have not set one up. Scan this with an authenticator app and type the code that it shows:</p>
      <SecretToScan uri={enrollUri} qrCode={enrollQrCode} />
    </>
  );
}
