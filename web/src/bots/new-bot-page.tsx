import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useFindByName } from '../api/find-resources.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { type Choice, pickedOf } from '../ui/choice.ts';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { TextField } from '../ui/text-field.tsx';

export function NewBotPage() {
  const { admin, send } = useApi();
  const [, navigate] = useLocation();
  const findPolicies = useFindByName('AccessPolicy');
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [system, setSystem] = useState('');
  const [value, setValue] = useState('');
  const [policy, setPolicy] = useState<Choice>();
  const create = useAction(async () => {
    const identifier = value ? [{ ...(system ? { system } : {}), value }] : undefined;
    const chosen = pickedOf(policy);
    const accessPolicy = chosen && { reference: chosen.reference };
    const { id } = await send<Bot>('POST', `${admin}/bot`, { name, description, identifier, accessPolicy });
    navigate(`/bots/${id}`);
  }, ['name', 'description', 'identifier', 'accessPolicy']);
  return (
    <Page title="Create a Bot">
      <section className="card narrow" aria-label="New Bot">
        <Form label="New Bot" fieldErrors={create.fieldErrors} onSubmit={() => create.run()}>
          <TextField label="Name" name="name" value={name} onChange={setName} isRequired />
          <TextField label="Description" name="description" value={description} onChange={setDescription} />
          <div className="form-pair">
            <TextField
              label="Identifier system"
              name="system"
              help="For example https://example.org/bots. Optional."
              value={system}
              onChange={setSystem}
            />
            <TextField
              label="Identifier value"
              name="identifier"
              help="Senders can name the Bot by it. Unique within a project."
              value={value}
              onChange={setValue}
            />
          </div>
          <ResourcePicker
            label="Access policy"
            name="accessPolicy"
            help="Without one it may read and write clinical records and run Bots."
            value={policy}
            onChange={setPolicy}
            find={findPolicies}
          />
          <Failure message={create.message} />
          <div className="buttons">
            <Button type="submit" kind="primary" isPending={create.isBusy}>
              Create
            </Button>
          </div>
        </Form>
      </section>
    </Page>
  );
}
