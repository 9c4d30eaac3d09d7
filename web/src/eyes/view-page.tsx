import type { Parameters, ProjectMembership, Resource } from '@medplum/fhirtypes';
import { useCallback, useEffect, useRef, useState } from 'react';
import { entriesOf } from '../api/fhir.ts';
import { type Api, useAction, useApi, useLoad } from '../api/use-api.ts';
import { useAddressState } from '../api/use-pages.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { nameOf } from '../records/record-text.ts';
import { recordTypes } from '../records/registry.ts';
import { Button, Failure, Link, Loading, Notice, Output } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';

/** The records as one member would see them, and which of their rights says so. Nothing can be changed here. */
export function ViewPage({ id }: { id: string }) {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) =>
      api.get<ProjectMembership>(`${api.admin}/members/${encodeURIComponent(id)}`, signal),
    [api, id],
  );
  const loaded = useLoad(load);
  const name = loaded.value?.profile?.display ?? 'this member';
  return (
    <Page title={loaded.value ? `Viewing as ${name}` : 'Viewing as a member'}>
      <Loading of={loaded}>{(membership) => <View membership={membership} name={name} />}</Loading>
      <p>
        <Link href={`/members/${id}`}>Back to {name}</Link>
      </p>
    </Page>
  );
}

function View({ membership, name }: { membership: ProjectMembership; name: string }) {
  const api = useApi();
  const types = recordTypes.map(({ value }) => value);
  const [type, setType] = useAddressState('type', types, 'Patient');
  // What somebody searches by may tell of a patient: it does not stand in the address.
  const [parameters, setParameters] = useKept(`view ${membership.id} search`, '');
  const [record, setRecord] = useKept(`view ${membership.id} record`, '');
  const [found, setFound] = useState<Explanation>();
  const look = useAction(
    async ({ next }: { next?: string }) => {
      const search = next ?? (parameters.trim() ? `${type}?${parameters.trim().replace(/^\?/, '')}` : type);
      const wanted = record.trim() ? { resource: `${type}/${record.trim()}` } : { search };
      const page = await explain(api, membership.id ?? '', wanted);
      setFound((before) => (next && before ? { ...page, seen: [...before.seen, ...page.seen] } : page));
    },
    ['search', 'resource'],
  );
  return (
    <>
      <Notice kind="plain">
        You see what {name} would see, as far as you may see it yourself. You can change nothing here, and you
        are not signed in as them. The audit log notes that you looked.
        {membership.active === false &&
          ' They cannot sign in now: this is what their rights would show them.'}
      </Notice>
      <section className="card narrow" aria-label="What to look at">
        <Form label="What to look at" fieldErrors={look.fieldErrors} onSubmit={() => void look.run({})}>
          <Select label="Type" value={type} options={recordTypes} onChange={setType} />
          <TextField
            label="Search parameters"
            name="search"
            help="As name=Smith or birthdate=ge2000-01-01. Leave it empty for all of them."
            autoComplete="off"
            spellCheck="false"
            value={parameters}
            onChange={setParameters}
          />
          <TextField
            label="Or the id of one record"
            name="resource"
            help="Says why they see it, or why not."
            autoComplete="off"
            spellCheck="false"
            value={record}
            onChange={setRecord}
          />
          <Failure message={look.message} />
          <div>
            <Button type="submit" kind="primary" isPending={look.isBusy}>
              Show what they see
            </Button>
          </div>
        </Form>
      </section>
      {found && (
        <SeenList
          name={name}
          explanation={found}
          isBusy={look.isBusy}
          onMore={found.next ? () => void look.run({ next: found.next ?? '' }) : undefined}
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

/** What the member sees, each record with the rules that say so. */
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
          {seen.length === 1 ? '1 record' : `${seen.length} records`}
          {onMore && ', and there are more'}
        </p>
      )}
      {seen.length > 0 && (
        <ul className="rows" aria-label="Records">
          {seen.map((one) => (
            <li className="row" key={`${one.resource.resourceType}/${one.resource.id}`}>
              <Seen seen={one} />
            </li>
          ))}
        </ul>
      )}
      {onMore && (
        <Button isPending={isBusy} onPress={onMore}>
          Show more
        </Button>
      )}
    </section>
  );
}

function Seen({ seen: { resource, hidden, rules } }: { seen: SeenRecord }) {
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
      <Output label={nameOf(resource)} text={JSON.stringify(resource, undefined, 2)} />
    </details>
  );
}

/** A record as the member sees it. */
interface SeenRecord {
  resource: Resource;
  /** Elements that are hidden from them. */
  hidden: string[];
  /** The rules that let them see it, a sentence each. */
  rules: string[];
}

interface Explanation {
  seen: SeenRecord[];
  why: string | undefined;
  /** The search of the next page. */
  next: string | undefined;
}

/** `POST fhir/R4/ProjectMembership/<id>/$explain`. @throws what the service refused */
async function explain(
  api: Api,
  membershipId: string,
  wanted: { search: string } | { resource: string },
): Promise<Explanation> {
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
