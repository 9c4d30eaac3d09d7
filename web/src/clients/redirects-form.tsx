import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Client, redirectsOf } from './client.ts';

/** Where an app that signs people in may take them. */
export function RedirectsForm({ client, onSaved }: { client: Client; onSaved(): void }) {
  const { send } = useApi();
  const [text, setText] = useState(redirectsOf(client).join('\n'));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    setSaved(false);
    const { redirectUri: _, redirectUris: __, ...others } = client;
    const redirectUris = text.split(/\s+/).filter(Boolean);
    const body = { ...others, ...(redirectUris.length > 0 ? { redirectUris } : {}) };
    const version = { 'if-match': `W/"${client.meta?.versionId}"` };
    await send('PUT', `fhir/R4/ClientApplication/${client.id}`, body, version);
    setSaved(true);
    onSaved();
  }, ['redirectUris']);
  return (
    <section className="card" aria-labelledby="redirects">
      <h2 id="redirects">Signing people in</h2>
      <Form label="Signing people in" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
        <TextField
          label="Redirect URIs"
          name="redirectUris"
          rows={3}
          spellCheck="false"
          help="Only for an app that signs people in: one per line, compared character for character. One that is removed stops working at once."
          value={text}
          onChange={(next) => {
            setText(next);
            setSaved(false);
          }}
        />
        <Failure message={save.message} />
        {isSaved && <Notice kind="good">Saved.</Notice>}
        <div>
          <Button type="submit" isPending={save.isBusy}>
            Save the redirect URIs
          </Button>
        </div>
      </Form>
    </section>
  );
}
