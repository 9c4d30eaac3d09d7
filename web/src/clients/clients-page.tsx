import type { ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useFindByName } from '../api/fhir.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { Button, Empty, Failure, Link, Moment } from '../ui/basics.tsx';
import { Switch, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { type Choice, pickedOf, ResourcePicker } from '../ui/resource-picker.tsx';
import { lastUsedOf, type NewClient } from './client.ts';
import { NewSecret } from './client-secret.tsx';

/** API keys: the programs that may call the API of this Project. */
export function ClientsPage() {
  const { admin } = useApi();
  const pages = usePages<ProjectMembership>(`${admin}/members?profile-type=ClientApplication&_count=20`);
  const [created, setCreated] = useState<NewClient>();
  const row = useCallback((membership: ProjectMembership) => <ClientRow membership={membership} />, []);
  return (
    <Page title="API keys">
      {created && <NewSecret client={created} title={`${created.name} is created`} />}
      <PagedList pages={pages} label="API keys" row={row} empty={<Empty title="No API keys" />} />
      <section className="card narrow" aria-labelledby="new-key">
        <h2 id="new-key">Create an API key</h2>
        <NewClientForm
          key={created?.id}
          onCreated={(client) => {
            setCreated(client);
            pages.reload();
          }}
        />
      </section>
    </Page>
  );
}

function ClientRow({ membership }: { membership: ProjectMembership }) {
  const { profile, admin, accessPolicy } = membership;
  const id = profile?.reference?.replace('ClientApplication/', '');
  const lastUsed = lastUsedOf(membership);
  const rights = [
    admin ? 'Administrator' : '',
    accessPolicy ? (accessPolicy.display ?? 'An access policy') : 'Default rights',
  ];
  return (
    <>
      <div className="row-main">
        <Link className="link row-title" href={`/clients/${id}`}>
          {profile?.display ?? id}
        </Link>
        <span className="row-more">{rights.filter(Boolean).join(' · ')}</span>
        <span className="row-more code">{id}</span>
      </div>
      <div className="row-side">
        <span className="row-more">
          {lastUsed ? (
            <>
              Last used <Moment at={lastUsed} />
            </>
          ) : (
            'Never used'
          )}
        </span>
      </div>
    </>
  );
}

function NewClientForm({ onCreated }: { onCreated(client: NewClient): void }) {
  const { admin, send } = useApi();
  const findPolicies = useFindByName('AccessPolicy');
  const [name, setName] = useState('');
  const [redirects, setRedirects] = useState('');
  const [isPublic, setPublic] = useState(false);
  const [isAdministrator, setAdministrator] = useState(false);
  const [policy, setPolicy] = useState<Choice>();
  const create = useAction(async () => {
    const chosen = pickedOf(policy);
    const redirectUris = redirects.split(/\s+/).filter(Boolean);
    const body = {
      name,
      ...(redirectUris.length > 0 ? { redirectUris } : {}),
      ...(isPublic ? { public: true } : {}),
      ...(isAdministrator && !isPublic ? { admin: true } : {}),
      ...(chosen ? { accessPolicy: { reference: chosen.reference } } : {}),
    };
    onCreated(await send<NewClient>('POST', `${admin}/client`, body));
  }, ['name', 'redirectUris', 'accessPolicy']);
  return (
    <Form label="Create an API key" fieldErrors={create.fieldErrors} onSubmit={() => create.run()}>
      <TextField label="Name" name="name" value={name} onChange={setName} isRequired autoComplete="off" />
      <TextField
        label="Redirect URIs"
        name="redirectUris"
        rows={2}
        spellCheck="false"
        help="Only for an app that signs people in: one per line, compared character for character."
        value={redirects}
        onChange={setRedirects}
      />
      <ResourcePicker
        label="Access policy"
        name="accessPolicy"
        help="Without one it may read and write clinical records and run Bots."
        value={policy}
        onChange={setPolicy}
        find={findPolicies}
      />
      <Switch
        isSelected={isPublic}
        onChange={setPublic}
        help="It runs in a browser or on a phone, which keep no secret: it gets none, and only signs people in."
      >
        Public app
      </Switch>
      {!isPublic && (
        <Switch
          isSelected={isAdministrator}
          onChange={setAdministrator}
          help="May invite people, and change Bots and policies."
        >
          Administrator
        </Switch>
      )}
      <Failure message={create.message} />
      <div>
        <Button type="submit" kind="primary" isPending={create.isBusy}>
          Create the key
        </Button>
      </div>
    </Form>
  );
}
