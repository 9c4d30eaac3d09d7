import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Details } from '../ui/details.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type ProjectAnswer, useProject } from './use-project.ts';

/** Name, sender, when people are signed out, and how long emergency access lasts. */
export function GeneralTab() {
  const loaded = useProject();
  return <Loading of={loaded}>{(answer) => <General answer={answer} />}</Loading>;
}

function General({ answer }: { answer: ProjectAnswer }) {
  const { admin, send } = useApi();
  const { project } = answer;
  const [name, setName] = useState(project.name ?? '');
  const [senderName, setSenderName] = useState(answer.senderName ?? '');
  const [idle, setIdle] = useState(String(answer.idleMinutes ?? ''));
  const [emergency, setEmergency] = useState(String(answer.emergencyMinutes));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    setSaved(false);
    // What is no number is refused with the right words.
    const idleMinutes = /^\d*$/.test(idle.trim()) ? Number(idle) : idle;
    const emergencyMinutes = /^\d+$/.test(emergency.trim()) ? Number(emergency) : emergency;
    await send('POST', admin, { name, senderName, idleMinutes, emergencyMinutes });
    setSaved(true);
  }, ['name', 'senderName', 'idleMinutes', 'emergencyMinutes']);
  return (
    <section className="card narrow" aria-label="General">
      <Details items={[['Project id', <code key="id">{project.id}</code>]]} />
      <CopyButton text={project.id} label="Copy the project id" />
      <Form label="General" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
        <TextField
          label="Name"
          name="name"
          help="What people see when they sign in and in invitations."
          value={name}
          onChange={(next) => {
            setName(next);
            setSaved(false);
          }}
          isRequired
          autoComplete="off"
        />
        <TextField
          label="Sender of mails"
          name="senderName"
          help="The name beside the address that mails come from. Leave it empty for the name of the project."
          value={senderName}
          onChange={(next) => {
            setSenderName(next);
            setSaved(false);
          }}
          autoComplete="off"
        />
        <TextField
          label="Sign people out after minutes without use"
          name="idleMinutes"
          help="From 10 to 1440. Leave it empty for never. It does not hold for apps that may go on without their person (offline_access)."
          value={idle}
          onChange={(next) => {
            setIdle(next);
            setSaved(false);
          }}
          inputMode="numeric"
          autoComplete="off"
        />
        <TextField
          label="Minutes of emergency access"
          name="emergencyMinutes"
          help="How long it lasts for members who have a policy for emergencies. From 0, for nobody, to 480."
          value={emergency}
          onChange={(next) => {
            setEmergency(next);
            setSaved(false);
          }}
          inputMode="numeric"
          autoComplete="off"
        />
        <Failure message={save.message} />
        {isSaved && (
          <Notice kind="good">
            Saved. Mails and sign-ins show it from now on; another time without use holds at once.
          </Notice>
        )}
        <div>
          <Button type="submit" kind="primary" isPending={save.isBusy}>
            Save
          </Button>
        </div>
      </Form>
    </section>
  );
}
