import { Button } from '../ui/button.tsx';

/** With a byte order mark, by which Excel knows UTF-8. */
const template = [
  '\uFEFFresourceType,firstName,lastName,email,accessPolicy,sendEmail',
  'Practitioner,Alice,Smith,alice@example.org,,true',
  'Patient,Bob,Jones,bob@example.org,,true',
  '',
].join('\r\n');

/** A file to begin with. */
export function TemplateLink() {
  const download = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([template], { type: 'text/csv;charset=utf-8' }));
    link.download = 'invitations.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return <Button onPress={download}>Download a template</Button>;
}
