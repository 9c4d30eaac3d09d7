import { useState } from 'react';
import { Button } from './button.tsx';

/** Puts a text on the clipboard and says so. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select it and copy it by hand');
    }
  };
  return (
    <span className="row-side">
      <Button onPress={copy}>{label}</Button>
      <span className="muted" role="status">
        {said}
      </span>
    </span>
  );
}
