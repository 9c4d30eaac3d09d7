import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';
import { leaveForIssuer } from './external-flow.ts';

/** Signing in at the organisation that the address names: `?issuer=…&project_id=…`. */
export function IssuerButton({ query }: { query: URLSearchParams }) {
  const [issuer, projectId] = [query.get('issuer') ?? '', query.get('project_id') ?? ''];
  const leave = useAction(() => leaveForIssuer(issuer, projectId));
  const host = URL.parse(issuer)?.host;
  if (!host || !projectId) return null;
  return (
    <>
      <Failure message={leave.message} />
      <Button isPending={leave.isBusy} onPress={() => leave.run()}>
        Continue with {host}
      </Button>
    </>
  );
}
