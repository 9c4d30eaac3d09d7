import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Failure } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';
import { readTemplate, templates } from './templates.ts';

const options = [{ value: '', label: 'None' }, ...templates];

/** Begins with an example. What was written is not overwritten unasked. */
export function TemplatePicker({ text, onPick }: { text: string; onPick(text: string): void }) {
  const [chosen, setChosen] = useState('');
  const [asked, setAsked] = useState<string>();
  const [own, setOwn] = useState('');
  const pick = useAction(async (path: string) => {
    setChosen(path);
    setAsked(undefined);
    if (path === '') return;
    const template = await readTemplate(path);
    setOwn(template);
    onPick(template);
  });
  const isWritten = text.trim() !== '' && text !== own;
  return (
    <>
      <Select
        label="Begin with an example"
        value={chosen}
        options={options}
        onChange={(path) => (path !== '' && isWritten ? setAsked(path) : void pick.run(path))}
      />
      <Failure message={pick.message} />
      <Confirm
        isOpen={asked !== undefined}
        title="Replace the code?"
        deed="Replace it"
        isBusy={pick.isBusy}
        message={undefined}
        onConfirm={() => pick.run(asked ?? '')}
        onClose={() => setAsked(undefined)}
      >
        <p>The example replaces what is in the editor. Undo brings it back.</p>
      </Confirm>
    </>
  );
}
