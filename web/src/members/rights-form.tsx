import type { AccessPolicy, ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { type PickedResource, pickedResource, useFindByName } from '../api/fhir.ts';
import { useApi } from '../api/use-api.ts';
import { emergencyPolicyOf } from '../emergency/emergency.ts';
import { RightsSummary } from '../rights/rights-summary.tsx';
import { useSession } from '../session/session-context.tsx';
import { Button, Failure, Notice } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Switch } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { type Choice, pickedOf, ResourcePicker } from '../ui/resource-picker.tsx';
import { invitationOf } from './invitation.ts';

/** Role, policy and activity of a member. */
export function RightsForm({ member, onChange }: { member: Member; onChange(): void }) {
  const { membership } = member;
  const { admin, send } = useApi();
  const { me } = useSession();
  const findPolicies = useFindByName('AccessPolicy');
  const [isAsking, setAsking] = useState(false);
  const isPractitioner = membership.profile?.reference?.startsWith('Practitioner/') === true;
  const hasJoined = invitationOf(membership)?.state === 'accepted';
  const profileType = membership.profile?.reference?.split('/')[0] ?? '';
  const save = useForm(
    () => ({
      accessPolicy: pickedPolicy(membership.accessPolicy?.reference, member.policy),
      emergencyPolicy: pickedPolicy(emergencyPolicyOf(membership), member.emergencyPolicy),
      admin: membership.admin === true,
      active: membership.active !== false,
    }),
    async ({ accessPolicy, emergencyPolicy, admin: isAdministrator, active }) => {
      const chosen = pickedOf(accessPolicy);
      const inEmergency = pickedOf(emergencyPolicy);
      await send('POST', `${admin}/members/${membership.id}`, {
        accessPolicy: chosen ? { reference: chosen.reference } : null,
        ...(isPractitioner
          ? {
              admin: isAdministrator,
              emergencyPolicy: inEmergency ? { reference: inEmergency.reference } : null,
            }
          : {}),
        ...(hasJoined ? { active } : {}),
      });
      setAsking(false);
      onChange();
    },
  );
  const { accessPolicy: policy, admin: isAdministrator, active } = save.values;
  const losesOwn =
    membership.id === me.membership.id && membership.admin === true && !(isAdministrator && active);
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
          help="Limits what they can see and do. Leave it empty for the default rights shown below."
          {...save.field('accessPolicy')}
          find={findPolicies}
        />
        {isPractitioner && (
          <ResourcePicker
            label="In an emergency also"
            help="What they may see and do beside that for a limited time, when they say why. You are told by e-mail."
            {...save.field('emergencyPolicy')}
            find={findPolicies}
          />
        )}
        {isPractitioner && (
          <Switch {...save.toggle('admin')} help="May invite, change and remove others.">
            Administrator
          </Switch>
        )}
        {hasJoined && (
          <Switch {...save.toggle('active')} help="Turn it off to lock them out at once.">
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
        {save.isSaved && <Notice kind="good">Saved. It applies from their next request.</Notice>}
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

/** A member with what their page tells beside the membership. */
export interface Member {
  membership: ProjectMembership;
  /** Undefined when the profile cannot be read. */
  email: string | undefined;
  policy: AccessPolicy | undefined;
  /** What is prepared for emergencies. */
  emergencyPolicy: AccessPolicy | undefined;
  /** The name of whoever invited them. */
  inviter: string | undefined;
}
