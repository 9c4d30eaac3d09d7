import type { Parameters, ProjectMembership } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { entriesOf } from '../api/fhir.ts';
import { type Api, useAction, useApi, useGet } from '../api/use-api.ts';
import { useAddress } from '../api/use-pages.ts';
import { nameOf, recordTypes } from '../records/record-text.ts';
import { counted, Failure, Loading, Notice, Output } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
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
  const [found, setFound] = useState<Explanation>();
  const explain = (wanted: Wanted) => explained(api, membership.id ?? '', wanted);
  // What somebody searches by may tell of a patient: it does not stand in the address.
  const look = useForm(
    { search: '', resource: '' },
    async ({ search, resource }) => {
      const [asked, id] = [search.trim().replace(/^\?/, ''), resource.trim()];
      const whole = asked ? `${type}?${asked}` : type;
      setFound(await explain(id ? { resource: `${type}/${id}` } : { search: whole }));
    },
    { keptAs: `view ${membership.id}` },
  );
  const more = useAction(async (search: string) => {
    const page = await explain({ search });
    setFound((before) => before && { ...page, seen: [...before.seen, ...page.seen] });
  });
  const next = found?.next;
  return (
    <>
      <Notice kind="plain">
        You see what {name} would see, as far as you may see it yourself. You can change nothing here, and you
        are not signed in as them. The audit log notes that you looked.
        {membership.active === false &&
          ' They cannot sign in now: this is what their rights would show them.'}
      </Notice>
      <FormCard label="What to look at" action={look} submit="Show what they see">
        <Select label="Type" options={recordTypes} {...field('type')} />
        <TextField label="Search parameters" spellCheck="false" {...look.field('search')}>
          As name=Smith or birthdate=ge2000-01-01. Leave it empty for all of them.
        </TextField>
        <TextField label="Or the id of one record" spellCheck="false" {...look.field('resource')}>
          Says why they see it, or why not.
        </TextField>
      </FormCard>
      {found && (
        <SeenList
          name={name}
          explanation={found}
          isBusy={more.isBusy}
          onMore={next === undefined ? undefined : () => void more.run(next)}
        />
      )}
      <Failure message={more.message} />
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

type Explanation = Awaited<ReturnType<typeof explained>>;
type Wanted = { search: string } | { resource: string };

/** `POST fhir/R4/ProjectMembership/<id>/$explain`. @throws what the service refused */
async function explained(api: Api, membershipId: string, wanted: Wanted) {
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
