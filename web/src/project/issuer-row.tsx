import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Failure, Notice } from '../ui/notice.tsx';

export interface Issuer {
  id: string;
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  redirectUri: string;
}

/** `POST …/issuers/<id>/test` */
interface IssuerTest {
  works: boolean;
  problem?: string;
}

/** One issuer, which can be tested and removed. */
export function IssuerRow({ issuer, onRemoved }: { issuer: Issuer; onRemoved(): void }) {
  const { admin, send, fetch } = useApi();
  const [result, setResult] = useState<IssuerTest>();
  const [isAsking, setAsking] = useState(false);
  const path = `${admin}/issuers/${issuer.id}`;
  const test = useAction(async () => {
    setResult(undefined);
    setResult(await send<IssuerTest>('POST', `${path}/test`));
  });
  const remove = useAction(async () => {
    await fetch(path, { method: 'DELETE' });
    setAsking(false);
    onRemoved();
  });
  return (
    <li className="row">
      <div className="row-main">
        <span className="row-title">{issuer.issuer}</span>
        <span className="row-more">
          Client {issuer.clientId}, {issuer.hasSecret ? 'with a secret' : 'without a secret'}
        </span>
        <span className="row-more">
          Redirect URI to register there: <code>{issuer.redirectUri}</code>
        </span>
        <Failure message={test.message} />
        {result && (
          <Notice kind={result.works ? 'good' : 'bad'}>
            {result.works
              ? 'It answers, and its keys can be used. Whether the client is registered there shows when somebody signs in.'
              : `It cannot be used. ${result.problem}.`}
          </Notice>
        )}
      </div>
      <div className="row-side">
        <Button aria-label={`Test ${issuer.issuer}`} isPending={test.isBusy} onPress={() => test.run()}>
          Test
        </Button>
        <Button aria-label={`Remove ${issuer.issuer}`} kind="danger" onPress={() => setAsking(true)}>
          Remove
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`Remove ${issuer.issuer}?`}
        deed="Remove it"
        isBusy={remove.isBusy}
        message={remove.message}
        onConfirm={() => remove.run()}
        onClose={() => {
          setAsking(false);
          remove.clear();
        }}
      >
        <ul>
          <li>Nobody signs in to this project with it any more. Sessions end within the hour.</li>
          <li>People who can sign in with nothing else are locked out until it is added again.</li>
        </ul>
      </Confirm>
    </li>
  );
}
