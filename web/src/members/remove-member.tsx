import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useSession } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { profileType } from './profile-type.ts';

/** Takes a member out of the Project, after saying what that means. */
export function RemoveMember({ membership }: { membership: ProjectMembership }) {
  const { admin, send } = useApi();
  const { me } = useSession();
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const remove = useAction(async () => {
    await send('DELETE', `${admin}/members/${membership.id}`);
    navigate('/members');
  });
  const name = membership.profile?.display ?? 'this member';
  return (
    <section className="card" aria-labelledby="remove">
      <h2 id="remove">Leave the project</h2>
      <p>Ends the membership of {name}. Their records stay.</p>
      <div>
        <Button kind="danger" onPress={() => setAsking(true)}>
          Remove from the project
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`Remove ${name}?`}
        deed={`Remove ${name}`}
        isBusy={remove.isBusy}
        message={remove.message}
        onConfirm={() => remove.run()}
        onClose={() => {
          setAsking(false);
          remove.clear();
        }}
      >
        <ul>
          <li>
            They are signed out of {me.project.name ?? 'this project'} and refused from their next request on.
          </li>
          <li>An invitation that is still open ends.</li>
          <li>
            The {profileType(membership.profile?.reference)} record and everything that refers to it stay
            where they are.
          </li>
          <li>Their account and their other projects are not touched.</li>
          <li>Invited again as the same kind, they get this record back.</li>
        </ul>
      </Confirm>
    </section>
  );
}
