import type { AccessPolicy, ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { pickedResource } from '../api/fhir.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { emergencyPolicyOf } from '../emergency/emergency.ts';
import { useSession } from '../session/session-state.ts';
import { Sentences } from '../ui/basics.tsx';
import { Switch } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { Confirm } from '../ui/page.tsx';
import { type Choice, type PickedPolicy, PolicyPicker, referenceOf } from '../ui/resource-picker.tsx';
import { invitationOf } from './invitation.ts';

/** A member, person or program, with the policies that the membership names, where they can be read. */
export interface MemberWithPolicies {
  membership: ProjectMembership;
  policy: AccessPolicy | undefined;
  emergencyPolicy?: AccessPolicy | undefined;
}

/** Role, policy and activity of a member. */
export function RightsForm({ member }: { member: MemberWithPolicies }) {
  const { membership } = member;
  const { admin, change } = useApi();
  const { me } = useSession();
  const [isAsking, setAsking] = useState(false);
  const profileType = membership.profile?.reference?.split('/')[0] ?? '';
  const isPractitioner = profileType === 'Practitioner';
  const hasJoined = invitationOf(membership)?.state === 'accepted';
  const form = useForm(
    () => ({
      accessPolicy: pickedPolicy(membership.accessPolicy?.reference, member.policy),
      emergencyPolicy: pickedPolicy(emergencyPolicyOf(membership), member.emergencyPolicy),
      admin: membership.admin === true,
      active: membership.active !== false,
    }),
    async (typed) => {
      const emergencyPolicy = referenceOf(typed.emergencyPolicy) ?? null;
      await change('POST', `${admin}/members/${membership.id}`, {
        accessPolicy: referenceOf(typed.accessPolicy) ?? null,
        ...(isPractitioner ? { admin: typed.admin, emergencyPolicy } : {}),
        ...(hasJoined ? { active: typed.active } : {}),
      });
    },
  );
  const { accessPolicy: policy, admin: isAdministrator, active } = form.values;
  const isOwn = membership.id === me.membership.id && membership.admin === true;
  const losesOwn = isOwn && !(isAdministrator && active);
  const holder = { profileType, isAdministrator, hasPatients: hasPatients(membership) };
  return (
    <>
      <FormCard
        title="What they may do"
        className="card"
        action={form}
        submit="Save"
        saved="Saved. It applies from their next request."
        onSubmit={() => (losesOwn ? setAsking(true) : void form.run())}
      >
        <PolicyPicker {...form.field('accessPolicy')}>
          Limits what they can see and do. Leave it empty for the default rights shown below.
        </PolicyPicker>
        {isPractitioner && (
          <>
            <PolicyPicker label="In an emergency also" {...form.field('emergencyPolicy')}>
              What they may see and do beside that for a limited time, when they say why. You are told by
              e-mail.
            </PolicyPicker>
            <Switch label="Administrator" {...form.toggle('admin')}>
              May invite, change and remove others.
            </Switch>
          </>
        )}
        {hasJoined && (
          <Switch label="Active" {...form.toggle('active')}>
            Turn it off to lock them out at once.
          </Switch>
        )}
        <RightsSummary
          title="What this lets them do"
          holder={policy && 'typed' in policy ? undefined : { ...holder, policy: policy?.resource }}
        />
      </FormCard>
      <Confirm
        isOpen={isAsking}
        title="Give up your own administration?"
        deed="Give it up"
        act={form.send}
        onClose={() => setAsking(false)}
      >
        <p>
          These are your own rights. You can no longer open the pages of administrators, and only another
          administrator can give them back to you.
        </p>
      </Confirm>
    </>
  );
}

function pickedPolicy(reference: string | undefined, policy: AccessPolicy | undefined): Choice<PickedPolicy> {
  if (!reference) return undefined;
  // One that is gone still stands on the membership, and grants nothing.
  const gone: AccessPolicy = { resourceType: 'AccessPolicy', resource: [] };
  return policy ? pickedResource(policy) : { reference, display: reference, resource: gone };
}

function hasPatients(membership: object): boolean {
  return 'patient' in membership && Array.isArray(membership.patient) && membership.patient.length > 0;
}

/**
 * What somebody may do, in plain words, generated from the rights themselves.
 * @param holder undefined while it is not known which policy will hold
 */
export function RightsSummary({ title, holder }: { title: string; holder: Holder | undefined }) {
  const { value: words } = useLoad(JSON.stringify(holder ?? null), async () => holder && rightsWords(holder));
  return (
    <div className="summary" role="status">
      <p className="legend">{title}</p>
      {!holder && <p>Choose the access policy from the list to see what it allows.</p>}
      {holder && words && <Sentences of={words} />}
    </div>
  );
}

/** Whose rights are told. */
export interface Holder {
  profileType: string;
  isAdministrator: boolean;
  /** Of a RelatedPerson: whether a patient is linked. */
  hasPatients: boolean;
  /** Undefined when there is none: the default of their kind holds. */
  policy: AccessPolicy | undefined;
}

/** A sentence each. They know every search parameter of R4, and are loaded when the first page needs them. */
async function rightsWords({ policy, ...who }: Holder): Promise<readonly string[]> {
  const { defaultWords, policyWords } = await import('../policies/builder/knowledge.ts');
  const words = (policy ? policyWords(policy, who) : defaultWords(who)).map(({ text }) => text);
  return [
    ...(words.length === 0 ? ['The policy has no entries: it grants nothing.'] : words),
    ...(who.isAdministrator && policy
      ? ['May invite, change and remove people, and manage Bots and API keys.']
      : []),
    ...(policy || !who.isAdministrator ? ['Nothing else.'] : []),
  ];
}
