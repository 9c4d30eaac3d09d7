import type { AccessPolicy } from '@medplum/fhirtypes';
import { useState } from 'react';
import { type PickedResource, pickedResource, useFindByName } from '../api/find-resources.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { emergencyPolicyOf } from '../emergency/emergency.ts';
import { RightsSummary } from '../rights/rights-summary.tsx';
import { useSession } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { type Choice, pickedOf } from '../ui/choice.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { Switch } from '../ui/switch.tsx';
import { invitationOf } from './invitation.ts';
import type { Member } from './member.ts';

/** Role, policy and activity of a member. */
export function RightsForm({ member, onChange }: { member: Member; onChange(): void }) {
  const { membership } = member;
  const { admin, send } = useApi();
  const { me } = useSession();
  const findPolicies = useFindByName('AccessPolicy');
  const [policy, setPolicy] = useState(() => pickedPolicy(membership.accessPolicy?.reference, member.policy));
  const [emergency, setEmergency] = useState(() =>
    pickedPolicy(emergencyPolicyOf(membership), member.emergencyPolicy),
  );
  const [isAsking, setAsking] = useState(false);
  const [isAdministrator, setAdministrator] = useState(membership.admin === true);
  const [isActive, setActive] = useState(membership.active !== false);
  const [isSaved, setSaved] = useState(false);
  const isPractitioner = membership.profile?.reference?.startsWith('Practitioner/') === true;
  const hasJoined = invitationOf(membership)?.state === 'accepted';
  const profileType = membership.profile?.reference?.split('/')[0] ?? '';
  const losesOwn =
    membership.id === me.membership.id && membership.admin === true && !(isAdministrator && isActive);
  const change = () => setSaved(false);
  const save = useAction(async () => {
    setSaved(false);
    const chosen = pickedOf(policy);
    const inEmergency = pickedOf(emergency);
    await send('POST', `${admin}/members/${membership.id}`, {
      accessPolicy: chosen ? { reference: chosen.reference } : null,
      ...(isPractitioner
        ? {
            admin: isAdministrator,
            emergencyPolicy: inEmergency ? { reference: inEmergency.reference } : null,
          }
        : {}),
      ...(hasJoined ? { active: isActive } : {}),
    });
    setAsking(false);
    setSaved(true);
    onChange();
  }, ['accessPolicy', 'emergencyPolicy', 'admin', 'active']);
  return (
    <section className="card" aria-labelledby="rights">
      <h2 id="rights">What they may do</h2>
      <Form
        label="What they may do"
        fieldErrors={save.fieldErrors}
        onSubmit={() => (losesOwn ? setAsking(true) : void save.run())}
      >
        <ResourcePicker
          label="Access policy"
          name="accessPolicy"
          help="Limits what they can see and do. Leave it empty for the default rights shown below."
          value={policy}
          onChange={(next) => {
            setPolicy(next);
            change();
          }}
          find={findPolicies}
        />
        {isPractitioner && (
          <ResourcePicker
            label="In an emergency also"
            name="emergencyPolicy"
            help="What they may see and do beside that for a limited time, when they say why. You are told by e-mail."
            value={emergency}
            onChange={(next) => {
              setEmergency(next);
              change();
            }}
            find={findPolicies}
          />
        )}
        {isPractitioner && (
          <Switch
            isSelected={isAdministrator}
            onChange={(next) => {
              setAdministrator(next);
              change();
            }}
            help="May invite, change and remove others."
          >
            Administrator
          </Switch>
        )}
        {hasJoined && (
          <Switch
            isSelected={isActive}
            onChange={(next) => {
              setActive(next);
              change();
            }}
            help="Turn it off to lock them out at once."
          >
            Active
          </Switch>
        )}
        <RightsSummary
          title="What this lets them do"
          holder={
            policy && 'typed' in policy
              ? undefined
              : {
                  profileType,
                  isAdministrator,
                  hasPatients: hasPatients(membership),
                  policy: policy?.resource,
                }
          }
        />
        <Failure message={isAsking ? undefined : save.message} />
        {isSaved && <Notice kind="good">Saved. It applies from their next request.</Notice>}
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={save.isBusy}>
            Save
          </Button>
        </div>
      </Form>
      <Confirm
        isOpen={isAsking}
        title="Give up your own administration?"
        deed="Give it up"
        isBusy={save.isBusy}
        message={save.message}
        onConfirm={() => save.run()}
        onClose={() => {
          setAsking(false);
          save.clear();
        }}
      >
        <p>
          These are your own rights. You can no longer open the pages of administrators, and only another
          administrator can give them back to you.
        </p>
      </Confirm>
    </section>
  );
}

function pickedPolicy(
  reference: string | undefined,
  policy: AccessPolicy | undefined,
): Choice<PickedResource<AccessPolicy>> {
  if (!reference) return undefined;
  // One that is gone still stands on the membership, and grants nothing.
  const gone: AccessPolicy = { resourceType: 'AccessPolicy', resource: [] };
  return policy ? pickedResource(policy) : { reference, display: reference, resource: gone };
}

/** The patients that a RelatedPerson may reach, which R4's own type of a membership does not know. */
function hasPatients(membership: object): boolean {
  return 'patient' in membership && Array.isArray(membership.patient) && membership.patient.length > 0;
}
