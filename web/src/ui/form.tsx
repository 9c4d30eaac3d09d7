import { type ReactNode, useEffect, useRef } from 'react';
import { Form as AriaForm } from 'react-aria-components';

interface Props {
  label: string;
  /** What the service said, by the name of the field. */
  fieldErrors?: Record<string, string>;
  onSubmit(): void;
  children: ReactNode;
}

const none: Record<string, string> = {};

/** Fields and what sends them. What the service refuses stands at its field, which takes the focus. */
export function Form({ label, fieldErrors = none, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const recheckOwn = ({ target }: Event) => {
      if (isField(target) && target.form === form.current) recheck(target);
    };
    // At the document, because what was typed must have reached React before.
    document.addEventListener('input', recheckOwn);
    return () => document.removeEventListener('input', recheckOwn);
  }, []);
  useEffect(() => {
    if (Object.keys(fieldErrors).length === 0) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid] button')?.focus();
  }, [fieldErrors]);
  return (
    <AriaForm
      ref={form}
      className="form"
      aria-label={label}
      validationErrors={fieldErrors}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </AriaForm>
  );
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
