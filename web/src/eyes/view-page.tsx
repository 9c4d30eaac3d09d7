import type { ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useAddressState } from '../api/use-address-state.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { useKept } from '../drafts/use-kept.ts';
import { recordTypes } from '../records/record-types.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Explanation, explain } from './explain.ts';
import { SeenList } from './seen-list.tsx';

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
