import type { AccessPolicy, Bundle } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useApi, useGet, useLoad } from '../api/use-api.ts';
import { useSearch } from '../api/use-pages.ts';
import { removeDraft } from '../drafts/drafts.ts';
import { useSession } from '../session/session-state.ts';
import { ButtonLink, Loading } from '../ui/basics.tsx';
import { Select } from '../ui/fields.tsx';
import { PagedList, Row } from '../ui/lists.tsx';
import { Confirm, DeleteResource, Page } from '../ui/page.tsx';
import { draftNameOf, PolicyForm } from './policy-form.tsx';
import { type TemplateName, templates } from './templates.ts';

export function PoliciesPage() {
  const pages = useSearch<AccessPolicy>('fhir/R4/AccessPolicy?_count=20&_sort=name');
  return (
    <Page title="Access policies" actions={<ButtonLink label="Create a policy" href="/policies/new" />}>
      <PagedList
        pages={pages}
        label="Access policies"
        row={({ id, name = 'No name', resource = [] }) => {
          const types = resource.map(({ resourceType }) =>
            resourceType === '*' ? 'every type' : resourceType,
          );
          return <Row title={name} href={`/policies/${id}`} more={[types.join(', ') || 'grants nothing']} />;
        }}
        empty="No access policies"
        hint="Without one, members have the default rights of their role."
      />
    </Page>
  );
}

const names = Object.fromEntries(templates.map(({ value, label }) => [value, label])) as Record<
  TemplateName,
  string
>;

/** A new policy, from a template, which takes the place of what was written only when the person says so. */
export function NewPolicyPage() {
  const session = useSession();
  const [, navigate] = useLocation();
  const [template, setTemplate] = useState<TemplateName>('nurse');
  const [written, setWritten] = useState({ name: '', isChanged: false });
  const [wanted, setWanted] = useState<TemplateName>();
  // Its name outlives a change of the template.
  const [begun, setBegun] = useState('');
  const { resource = [], says } = templates.find(({ value }) => value === template) ?? {};
  const policy = JSON.parse(JSON.stringify({ resourceType: 'AccessPolicy', name: begun, resource }));
  const begin = (next: TemplateName) => {
    removeDraft(session, draftNameOf(policy));
    setBegun(written.name);
    setWritten({ name: written.name, isChanged: false });
    setWanted(undefined);
    setTemplate(next);
  };
  return (
    <Page title="Create a policy">
      <div className="narrow">
        <Select
          label="Begin with"
          value={template}
          options={names}
          onChange={(next) => (written.isChanged ? setWanted(next) : begin(next))}
        >
          {says}
        </Select>
      </div>
      <PolicyForm
        key={template}
        policy={policy}
        onSaved={({ id }) => navigate(`/policies/${id}`)}
        onWritten={setWritten}
      />
      <Confirm
        isOpen={wanted !== undefined}
        title="Replace what you have written?"
        deed="Replace it"
        act={() => wanted && begin(wanted)}
        onClose={() => setWanted(undefined)}
      >
        <p>The template replaces the entries in the editor, which are not saved.</p>
      </Confirm>
    </Page>
  );
}

export function PolicyPage({ id }: { id: string }) {
  const loaded = useGet<AccessPolicy>(`fhir/R4/AccessPolicy/${encodeURIComponent(id)}`);
  return (
    <Page
      title={loaded.value?.name ?? 'Access policy'}
      back={{ label: 'All access policies', href: '/policies' }}
    >
      <Loading of={loaded}>
        {(policy) => (
          <>
            <PolicyForm key={policy.id} policy={policy} onSaved={loaded.reload} />
            <DeleteResource resource={policy} name={policy.name ?? 'this policy'} then="/policies">
              <HeldBy policyId={id} />
            </DeleteResource>
          </>
        )}
      </Loading>
    </Page>
  );
}

/** Who loses rights with a policy, as list items: asked for when somebody is about to delete it. */
function HeldBy({ policyId }: { policyId: string }) {
  const api = useApi();
  const { value, isLoading } = useLoad(policyId, async (signal) => {
    const count = async (parameter: string) => {
      const query = new URLSearchParams({ [parameter]: `AccessPolicy/${policyId}`, _summary: 'count' });
      return (await api.get<Bundle>(`fhir/R4/ProjectMembership?${query}`, signal)).total;
    };
    const [held, prepared] = await Promise.all([count('access-policy'), count('emergency-policy')]);
    return { held, prepared };
  });
  return (
    <>
      <li>
        <span role="status">{isLoading ? 'Counting who has it…' : heldBy(value?.held)}</span>
      </li>
      {value?.held !== 0 && (
        <li>From their next request on they may do nothing, until they are given another policy.</li>
      )}
      {!isLoading && value?.prepared !== 0 && <li>{preparedFor(value?.prepared)}</li>}
    </>
  );
}

function preparedFor(count: number | undefined): string {
  const lost = 'emergency access, and lose it, also while it goes on.';
  if (count === undefined) return `Members may have this policy prepared for ${lost}`;
  if (count === 1)
    return '1 member has it prepared for emergency access, and loses it, also while it goes on.';
  return `${count} members have it prepared for ${lost}`;
}

function heldBy(count: number | undefined): string {
  if (count === undefined) return 'Members, Bots and API keys may have this policy.';
  if (count === 0) return 'Nobody has this policy.';
  return `This policy is held by ${count === 1 ? '1 member' : `${count} members`}, Bots and API keys included.`;
}
