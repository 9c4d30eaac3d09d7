import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Form as AriaForm } from 'react-aria-components';
import { type Check, FormChecks } from './form-checks.ts';

interface Props {
  label: string;
  /** What the service said, by the name of the field. */
  fieldErrors?: Record<string, string>;
  onSubmit(): void;
  children: ReactNode;
}

const none: Record<string, string> = {};

/**
 * Fields and what sends them. Checks of its fields come first; what the service refuses stands at its
 * field, which takes the focus.
 */
export function Form({ label, fieldErrors = none, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [checks] = useState(() => new Set<Check>());
  const [round, setRound] = useState(0);
  const latest = useRef(onSubmit);
  latest.current = onSubmit;
  useEffect(() => {
    const recheckOwn = ({ target }: Event) => {
      if (isField(target) && target.form === form.current) recheck(target);
    };
    // At the document, because what was typed must have reached React before.
    document.addEventListener('input', recheckOwn);
    return () => document.removeEventListener('input', recheckOwn);
  }, []);
  useEffect(() => {
    if (Object.keys(fieldErrors).length > 0) focusFirstError(form.current);
  }, [fieldErrors]);
  // A check may have put a value in: what is sent is what stands there after the next drawing.
  useEffect(() => {
    if (round > 0) latest.current();
  }, [round]);
  const submit = async () => {
    const results = await Promise.all([...checks].map((check) => check()));
    if (results.every(Boolean)) setRound((before) => before + 1);
    else requestAnimationFrame(() => focusFirstError(form.current));
  };
  return (
    <FormChecks value={checks}>
      <AriaForm
        ref={form}
        className="form"
        aria-label={label}
        validationErrors={fieldErrors}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
      </AriaForm>
    </FormChecks>
  );
}

function focusFirstError(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid] button')?.focus();
}

/**
 * An error goes while its field is put right. When the field is left would be too late: the page would move
 * under the pointer that is about to press the button below.
 */
function recheck(field: HTMLElement): void {
  if (field.ariaInvalid === 'true') field.dispatchEvent(new Event('change'));
}

function isField(target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}
