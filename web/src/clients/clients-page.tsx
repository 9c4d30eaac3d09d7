import type { ClientApplication, ProjectMembership } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { useSearch } from '../api/use-pages.ts';
import { lastSignInOf } from '../members/invitation.ts';
import { CopyButton, Moment } from '../ui/basics.tsx';
import { Switch, TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { PagedList, Row } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';
import { type Choice, type PickedPolicy, PolicyPicker, referenceOf } from '../ui/resource-picker.tsx';

/** Without a secret when it is public. */
export type CreatedClient = ClientApplication & { id: string; secret?: string };

/** API keys: the programs that may call the API of this Project. */
export function ClientsPage() {
  const { admin } = useApi();
  const pages = useSearch<ProjectMembership>(`${admin}/members?profile-type=ClientApplication&_count=20`);
  const [created, setCreated] = useState<CreatedClient>();
  return (
    <Page title="API keys">
      {created && <NewSecret client={created} title={`${created.name} is created`} />}
      <PagedList
        pages={pages}
        label="API keys"
        row={(membership) => <ClientRow membership={membership} />}
        empty="No API keys"
      />
      <NewClientForm
        key={created?.id}
        onCreated={(client) => {
          setCreated(client);
          pages.reload();
        }}
      />
    </Page>
  );
}

function ClientRow({ membership }: { membership: ProjectMembership }) {
  const { profile, admin, accessPolicy } = membership;
  const id = profile?.reference?.replace('ClientApplication/', '');
  const policy = accessPolicy ? (accessPolicy.display ?? 'An access policy') : 'Default rights';
  return (
    <Row
      title={profile?.display ?? id}
      href={`/clients/${id}`}
      more={[admin ? `Administrator · ${policy}` : policy]}
      side={<Moment className="row-more" before="Last used" at={lastSignInOf(membership)} or="Never used" />}
    >
      <span className="row-more code">{id}</span>
    </Row>
  );
}

const emptyClient = {
  name: '',
  redirectUris: '',
  accessPolicy: undefined as Choice<PickedPolicy>,
  public: false,
  admin: false,
};

function NewClientForm({ onCreated }: { onCreated(client: CreatedClient): void }) {
  const { admin, send } = useApi();
  const create = useForm(emptyClient, async (typed) => {
    const redirectUris = urisIn(typed.redirectUris);
    const body = {
      name: typed.name,
      ...(redirectUris.length > 0 ? { redirectUris } : {}),
      ...(typed.public ? { public: true } : {}),
      ...(typed.admin && !typed.public ? { admin: true } : {}),
      accessPolicy: referenceOf(typed.accessPolicy),
    };
    onCreated(await send<CreatedClient>('POST', `${admin}/client`, body));
  });
  return (
    <FormCard title="Create an API key" action={create} submit="Create the key">
      <TextField label="Name" {...create.field('name')} isRequired />
      <TextField label="Redirect URIs" rows={2} spellCheck="false" {...create.field('redirectUris')}>
        Only for an app that signs people in: one per line, compared character for character.
      </TextField>
      <PolicyPicker {...create.field('accessPolicy')}>
        Without one it may read and write clinical records and run Bots.
      </PolicyPicker>
      <Switch label="Public app" {...create.toggle('public')}>
        It runs in a browser or on a phone, which keep no secret: it gets none, and only signs people in.
      </Switch>
      {!create.values.public && (
        <Switch label="Administrator" {...create.toggle('admin')}>
          May invite people, and change Bots and policies.
        </Switch>
      )}
    </FormCard>
  );
}

/** The addresses in a text, one a line. */
export function urisIn(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** A key's new secret, this once: only its hash is stored. A public app has none. */
export function NewSecret({ client: { id, secret }, title }: { client: CreatedClient; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'center' });
    heading.current?.focus();
  }, []);
  return (
    <section className="card notice-good" aria-labelledby="new-secret">
      <h2 id="new-secret" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>
        {secret
          ? 'This is the only time that the secret is shown. Whoever has it can act as this key.'
          : 'It is a public app: it signs people in with its id, and has no secret.'}
      </p>
      <div>
        <p className="legend">Client id</p>
        <code className="secret">{id}</code>
      </div>
      {secret && (
        <div>
          <p className="legend">Client secret</p>
          <code className="secret">{secret}</code>
        </div>
      )}
      <CopyButton text={secret ?? id} label={secret ? 'Copy the secret' : 'Copy the client id'} />
    </section>
  );
}
