import type { Bot, Reference } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import { useFindByName } from '../api/fhir.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { Button, Empty, Failure, Link, Moment } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { type Choice, pickedOf, ResourcePicker } from '../ui/resource-picker.tsx';

/** `admin/projects/<id>/failures`, as far as it is of Bots. */
interface Runs {
  ran: { bot: Reference; at: string }[];
  bots: { bot: Reference; looked: number; failed: number }[];
  /** Every Bot that ran is among them. */
  complete: boolean;
}

export function BotsPage() {
  const pages = usePages<Bot>('fhir/R4/Bot?_count=20&_sort=name');
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<Runs>(`${api.admin}/failures`, signal), [api]);
  const { value: runs } = useLoad(load);
  const row = useCallback((bot: Bot) => <BotRow bot={bot} runs={runs} />, [runs]);
  return (
    <Page
      title="Bots"
      actions={
        <Link className="button button-primary" href="/bots/new">
          Create a Bot
        </Link>
      }
    >
      <PagedList
        pages={pages}
        label="Bots"
        row={row}
        empty={
          <Empty title="No Bots yet">
            <p>A Bot is code of yours that runs when a message arrives.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function BotRow({ bot, runs }: { bot: Bot; runs: Runs | undefined }) {
  const { id, name, description, identifier = [] } = bot;
  return (
    <div className="row-main">
      <Link className="link row-title" href={`/bots/${id}`}>
        {name}
      </Link>
      {description && <span className="row-more">{description}</span>}
      {identifier.map(({ system = '', value = '' }) => (
        <span className="row-more code" key={`${system}|${value}`}>
          {system}|{value}
        </span>
      ))}
      {runs && <LastRun runs={runs} reference={`Bot/${id}`} />}
    </div>
  );
}

function LastRun({ runs, reference }: { runs: Runs; reference: string }) {
  const ran = runs.ran.find(({ bot }) => bot.reference === reference);
  const failing = runs.bots.find(({ bot }) => bot.reference === reference);
  if (!ran) return runs.complete ? <span className="row-more">No run in the last 24 hours</span> : null;
  return (
    <span className="row-more">
      Last run <Moment at={ran.at} />
      {failing && `, ${failing.failed} of the latest ${failing.looked} failed`}
    </span>
  );
}

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
