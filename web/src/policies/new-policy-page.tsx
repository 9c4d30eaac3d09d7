import { useState } from 'react';
import { useLocation } from 'wouter';
import { removeDraft } from '../drafts/drafts.ts';
import { useSession } from '../session/session-context.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { draftNameOf, PolicyForm } from './policy-form.tsx';
import { type TemplateName, templates } from './templates.ts';

/** A new policy, from a template, which takes the place of what was written only when the person says so. */
export function NewPolicyPage() {
  const session = useSession();
  const [, navigate] = useLocation();
  const [template, setTemplate] = useState<TemplateName>('nurse');
  const [written, setWritten] = useState({ name: '', isChanged: false });
  const [wanted, setWanted] = useState<TemplateName>();
  // Its name outlives a change of the template.
  const [begun, setBegun] = useState('');
  const { resource = [], says } = templates.find(({ value }) => value === template) ?? {};
  const policy = JSON.parse(JSON.stringify({ resourceType: 'AccessPolicy', name: begun, resource }));
  const begin = (next: TemplateName) => {
    removeDraft(session, draftNameOf(policy));
    setBegun(written.name);
    setWritten({ name: written.name, isChanged: false });
    setWanted(undefined);
    setTemplate(next);
  };
  return (
    <Page title="Create a policy">
      <div className="narrow">
        <Select
          label="Begin with"
          {...(says ? { help: says } : {})}
          value={template}
          options={templates}
          onChange={(next) => (written.isChanged ? setWanted(next) : begin(next))}
        />
      </div>
      <PolicyForm
        key={template}
        policy={policy}
        onSaved={({ id }) => navigate(`/policies/${id}`)}
        onWritten={setWritten}
      />
      <Confirm
        isOpen={wanted !== undefined}
        title="Replace what you have written?"
        deed="Replace it"
        isBusy={false}
        message={undefined}
        onConfirm={() => wanted && begin(wanted)}
        onClose={() => setWanted(undefined)}
      >
        <p>The template replaces the entries in the editor, which are not saved.</p>
      </Confirm>
    </Page>
  );
}
