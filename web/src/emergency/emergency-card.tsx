import type { ProjectMembership } from '@medplum/fhirtypes';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Details } from '../ui/details.tsx';
import { Moment } from '../ui/moment.tsx';
import { Failure } from '../ui/notice.tsx';
import type { EmergencyGrant } from './emergency.ts';

interface Props {
  membership: ProjectMembership;
  grant: EmergencyGrant;
  onChange(): void;
}

/** The emergency access that a member has, for administrators, who may end it. */
export function EmergencyCard({ membership, grant, onChange }: Props) {
  const { admin, send } = useApi();
  const end = useAction(async () => {
    await send('DELETE', `${admin}/members/${membership.id}/emergency`);
    onChange();
  });
  return (
    <section className="card" aria-labelledby="emergency">
      <h2 id="emergency">They have emergency access</h2>
      <Details
        items={[
          ['Since', <Moment key="since" at={grant.since} />],
          ['Until', <Moment key="until" at={grant.until} />],
          ['Their reason', grant.reason],
        ]}
      />
      <Failure message={end.message} />
      <div>
        <Button kind="danger" isPending={end.isBusy} onPress={() => void end.run()}>
          End it now
        </Button>
      </div>
    </section>
  );
}
