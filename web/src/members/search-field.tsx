import { useEffect, useRef, useState } from 'react';
import { TextField } from '../ui/text-field.tsx';

interface Props {
  label: string;
  value: string;
  onChange(value: string): void;
}

/** How long somebody pauses before what they typed is searched, in ms. */
const pauseMs = 250;

/** A text that is searched once the typing pauses. */
export function SearchField({ label, value, onChange }: Props) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => latest.current(typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return <TextField label={label} type="search" value={typed} onChange={setTyped} maxLength={200} />;
}
