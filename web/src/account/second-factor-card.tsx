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

type Status = { enrolled: true } | { enrolled: false; enrollUri: string; enrollQrCode: string };

/** A code of an authenticator app beside the password: added, or taken away. */
export function SecondFactorCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<Status>('auth/mfa/status', signal), [api]);
  const loaded = useLoad(load);
  return (
    <section className="card narrow" aria-labelledby="second-factor">
      <h2 id="second-factor">Second factor</h2>
      <Loading of={loaded}>
        {(status) => <SecondFactor key={String(status.enrolled)} status={status} onChange={loaded.reload} />}
      </Loading>
    </section>
  );
}

function SecondFactor({ status, onChange }: { status: Status; onChange(): void }) {
  const { send } = useApi();
  const [token, setToken] = useState('');
  const [path, deed] = status.enrolled
    ? ['auth/mfa/disable', 'Take it away']
    : ['auth/mfa/enroll', 'Add the second factor'];
  const change = useAction(async () => {
    await send('POST', path, { token });
    onChange();
  }, ['token']);
  return (
    <Form label="Second factor" fieldErrors={change.fieldErrors} onSubmit={() => change.run()}>
      {status.enrolled ? (
        <p>You sign in with your password and a code of your authenticator app.</p>
      ) : (
        <>
          <p>You have none. Scan this with an authenticator app and type the code that it shows:</p>
          <SecretToScan uri={status.enrollUri} qrCode={status.enrollQrCode} />
        </>
      )}
      <Failure message={change.message} />
      <TokenField value={token} onChange={setToken} />
      <div>
        <Button type="submit" kind={status.enrolled ? 'danger' : 'primary'} isPending={change.isBusy}>
          {deed}
        </Button>
      </div>
    </Form>
  );
}
