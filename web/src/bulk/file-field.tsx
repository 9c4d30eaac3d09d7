import { useId, useState } from 'react';
import { decodeFile } from './decode-file.ts';

const longestFile = 1024 * 1024;

/** Reads a file of the person's choice; nothing of it leaves the browser yet. */
export function FileField({ onText }: { onText(text: string): void }) {
  const id = useId();
  const [refusal, setRefusal] = useState('');
  const [note, setNote] = useState('');
  const read = async (file: File | undefined) => {
    if (!file) return;
    const isTooLong = file.size > longestFile;
    setRefusal(isTooLong ? 'The file is larger than 1 MiB.' : '');
    if (isTooLong) return;
    const { text, encoding } = decodeFile(new Uint8Array(await file.arrayBuffer()));
    setNote(encoding === 'UTF-8' ? '' : `Read as ${encoding}: check that accents are right.`);
    onText(text);
  };
  return (
    <div className="field">
      <label htmlFor={id}>File</label>
      <input
        id={id}
        className="input"
        type="file"
        accept=".csv,text/csv"
        aria-describedby={`${id}-note ${id}-refusal`}
        onChange={({ target }) => void read(target.files?.[0])}
      />
      <span className="help" id={`${id}-note`} role="status">
        {note}
      </span>
      <span className="field-error" id={`${id}-refusal`} role="status">
        {refusal}
      </span>
    </div>
  );
}
