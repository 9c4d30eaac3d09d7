import { Button } from '../ui/button.tsx';
import { downloadCsv } from '../ui/download.ts';

const template = [
  'resourceType,firstName,lastName,email,accessPolicy,sendEmail',
  'Practitioner,Alice,Smith,alice@example.org,,true',
  'Patient,Bob,Jones,bob@example.org,,true',
  '',
].join('\r\n');

/** A file to begin with. */
export function TemplateLink() {
  return <Button onPress={() => downloadCsv('invitations.csv', template)}>Download a template</Button>;
}
