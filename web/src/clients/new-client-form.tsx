import type { ClientApplication } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useFindByName } from '../api/find-resources.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { type Choice, pickedOf } from '../ui/choice.ts';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';

/** Without a secret when it is public. */
export type NewClient = ClientApplication & { id: string; secret?: string };

export function NewClientForm({ onCreated }: { onCreated(client: NewClient): void }) {
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
