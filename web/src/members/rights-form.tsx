import { useState } from 'react';
import { useFindByName } from '../api/find-resources.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { type Picked, ResourcePicker } from '../ui/resource-picker.tsx';
import { Switch } from '../ui/switch.tsx';
import { invitationOf } from './invitation.ts';
import type { Member } from './member-page.tsx';

/** Role, policy and activity of a member. */
export function RightsForm({ member, onChange }: { member: Member; onChange(): void }) {
  const { membership } = member;
  const { admin, send } = useApi();
  const findPolicies = useFindByName('AccessPolicy');
  const [policy, setPolicy] = useState(pickedPolicy(member));
  const [isAdministrator, setAdministrator] = useState(membership.admin === true);
  const [isActive, setActive] = useState(membership.active !== false);
  const [isSaved, setSaved] = useState(false);
  const isPractitioner = membership.profile?.reference?.startsWith('Practitioner/') === true;
  const hasJoined = invitationOf(membership)?.state === 'accepted';
  const save = useAction(async () => {
    setSaved(false);
    await send('POST', `${admin}/members/${membership.id}`, {
      accessPolicy: policy ? { reference: policy.reference } : null,
      ...(isPractitioner ? { admin: isAdministrator } : {}),
      ...(hasJoined ? { active: isActive } : {}),
    });
    setSaved(true);
    onChange();
  }, ['accessPolicy', 'admin', 'active']);
  return (
    <section className="card" aria-labelledby="rights">
      <h2 id="rights">What they may do</h2>
      <Form label="What they may do" fieldErrors={save.fieldErrors} onSubmit={save.run}>
        <Failure message={save.message} />
        {isSaved && <Notice kind="good">Saved. It holds from the next request on.</Notice>}
        <ResourcePicker
          label="Access policy"
          name="accessPolicy"
          help="Type its name. Without one they may do what is usual for their kind."
          value={policy}
          onChange={setPolicy}
          find={findPolicies}
        />
        {isPractitioner && (
          <Switch
            isSelected={isAdministrator}
            onChange={setAdministrator}
            help="May invite, change and remove others."
          >
            Administrator
          </Switch>
        )}
        {hasJoined && (
          <Switch isSelected={isActive} onChange={setActive} help="Whoever is not active is refused at once.">
            Active
          </Switch>
        )}
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={save.isBusy}>
            Save
          </Button>
        </div>
      </Form>
    </section>
  );
}

function pickedPolicy({ membership, policy }: Member): Picked | undefined {
  const reference = membership.accessPolicy?.reference;
  return reference ? { reference, display: policy?.name ?? reference } : undefined;
}
