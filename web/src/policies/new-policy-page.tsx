import { useState } from 'react';
import { useLocation } from 'wouter';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { PolicyForm } from './policy-form.tsx';
import { type TemplateName, templates } from './templates.ts';

export function NewPolicyPage() {
  const [, navigate] = useLocation();
  const [template, setTemplate] = useState<TemplateName>('read');
  const resource = templates.find(({ value }) => value === template)?.resource ?? [];
  const policy = JSON.parse(JSON.stringify({ resourceType: 'AccessPolicy', resource }));
  return (
    <Page title="Create a policy">
      <div className="narrow">
        <Select label="Begin with" value={template} options={templates} onChange={setTemplate} />
      </div>
      <PolicyForm key={template} policy={policy} onSaved={({ id }) => navigate(`/policies/${id}`)} />
    </Page>
  );
}
