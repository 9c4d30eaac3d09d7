import type { Parameters, ProjectMembership } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { entriesOf } from '../api/fhir.ts';
import { type Api, useAction, useApi, useGet } from '../api/use-api.ts';
import { useAddress } from '../api/use-pages.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { nameOf, recordTypes } from '../records/record-text.ts';
import { counted, Loading, Notice, Output } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { FormCard } from '../ui/form.tsx';
import { Rows, ShowMore } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';

/** The records as one member would see them, and which of their rights says so. Nothing can be changed here. */
export function ViewPage({ id }: { id: string }) {
  const { admin } = useApi();
  const loaded = useGet<ProjectMembership>(`${admin}/members/${encodeURIComponent(id)}`);
  const name = loaded.value?.profile?.display ?? 'this member';
  return (
    <Page
      title={loaded.value ? `Viewing as ${name}` : 'Viewing as a member'}
      back={{ label: `Back to ${name}`, href: `/members/${id}` }}
    >
      <Loading of={loaded}>{(membership) => <View membership={membership} name={name} />}</Loading>
    </Page>
  );
}

const firstType = { type: 'Patient' };

function View({ membership, name }: { membership: ProjectMembership; name: string }) {
  const api = useApi();
  const { values, field } = useAddress(firstType, { type: recordTypes });
  const { type } = values;
  // What somebody searches by may tell of a patient: it does not stand in the address.
  const [parameters, setParameters] = useKept(`view ${membership.id} search`, '');
  const [record, setRecord] = useKept(`view ${membership.id} record`, '');
  const [found, setFound] = useState<Explanation>();
  const look = useAction(
    async (next: string | undefined) => {
      const search = next ?? (parameters.trim() ? `${type}?${parameters.trim().replace(/^\?/, '')}` : type);
      const wanted = record.trim() ? { resource: `${type}/${record.trim()}` } : { search };
      const page = await explain(api, membership.id ?? '', wanted);
      setFound((before) => (next && before ? { ...page, seen: [...before.seen, ...page.seen] } : page));
    },
    ['search', 'resource'],
  );
  const next = found?.next;
  return (
    <>
      <Notice kind="plain">
        You see what {name} would see, as far as you may see it yourself. You can change nothing here, and you
        are not signed in as them. The audit log notes that you looked.
        {membership.active === false &&
          ' They cannot sign in now: this is what their rights would show them.'}
      </Notice>
      <FormCard
        label="What to look at"
        action={{ ...look, run: () => look.run(undefined) }}
        submit="Show what they see"
      >
        <Select label="Type" options={recordTypes} {...field('type')} />
        <TextField
          label="Search parameters"
          name="search"
          spellCheck="false"
          value={parameters}
          onChange={setParameters}
        >
          As name=Smith or birthdate=ge2000-01-01. Leave it empty for all of them.
        </TextField>
        <TextField
          label="Or the id of one record"
          name="resource"
          spellCheck="false"
          value={record}
          onChange={setRecord}
        >
          Says why they see it, or why not.
        </TextField>
      </FormCard>
      {found && (
        <SeenList
          name={name}
          explanation={found}
          isBusy={look.isBusy}
          onMore={next === undefined ? undefined : () => void look.run(next)}
        />
      )}
    </>
  );
}

interface Props {
  name: string;
  explanation: Explanation;
  isBusy: boolean;
  onMore: (() => void) | undefined;
}

function SeenList({ name, explanation: { seen, why }, isBusy, onMore }: Props) {
  const list = useRef<HTMLElement>(null);
  // The answer may lie below the window.
  useEffect(() => {
    if (seen.length > 0) list.current?.scrollIntoView({ block: 'nearest' });
  }, [seen]);
  return (
    <section ref={list} aria-label={`What ${name} sees`}>
      {why ? (
        <Notice kind="plain" key={why} takesFocus>
          <strong>{name} sees nothing here.</strong> {why}
        </Notice>
      ) : (
        <p role="status">
          {counted(seen.length, 'record')}
          {onMore && ', and there are more'}
        </p>
      )}
      {seen.length > 0 && (
        <Rows
          label="Records"
          of={seen}
          keyOf={({ resource }) => `${resource.resourceType}/${resource.id}`}
          row={(one) => <Seen {...one} />}
        />
      )}
      <ShowMore onPress={onMore} isBusy={isBusy} />
    </section>
  );
}

function Seen({ resource, hidden, rules }: Explanation['seen'][number]) {
  return (
    <details className="record">
      <summary>
        <span className="row-title">{nameOf(resource)}</span>
        {rules.map((rule) => (
          <span className="row-more" key={rule}>
            {rule}
          </span>
        ))}
        {hidden.length > 0 && <span className="row-more">Hidden from them: {hidden.join(', ')}</span>}
      </summary>
      <Output label={nameOf(resource)}>{JSON.stringify(resource, undefined, 2)}</Output>
    </details>
  );
}

type Explanation = Awaited<ReturnType<typeof explain>>;

/** `POST fhir/R4/ProjectMembership/<id>/$explain`. @throws what the service refused */
async function explain(api: Api, membershipId: string, wanted: { search: string } | { resource: string }) {
  const path = `fhir/R4/ProjectMembership/${encodeURIComponent(membershipId)}/$explain`;
  const answer = await api.send<Parameters>('POST', path, wanted);
  const textOf = (name: string) => entriesOf(answer, name)[0]?.valueString;
  const seen = entriesOf(answer, 'seen').flatMap(({ part = [] }) => {
    const texts = (name: string) =>
      part.flatMap((one) => (one.name === name && one.valueString ? [one.valueString] : []));
    const resource = part.find(({ name }) => name === 'resource')?.resource;
    return resource ? [{ resource, hidden: texts('hidden'), rules: texts('rule') }] : [];
  });
  return { seen, why: textOf('why'), next: textOf('next') };
}
