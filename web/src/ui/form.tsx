import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { Form as AriaForm } from 'react-aria-components';
import { type Action, useAction } from '../api/use-api.ts';
import { Button, Failure, Notice } from './basics.tsx';

/** Finds out whether a field is ready to be sent; a field that is not shows why. */
type Check = () => Promise<boolean>;

const FormChecks = createContext<Set<Check> | undefined>(undefined);

/** A check that the form around waits for before it sends anything. */
export function useFormCheck(check: Check): void {
  const checks = useContext(FormChecks);
  const latest = useRef(check);
  latest.current = check;
  useEffect(() => {
    if (!checks) return;
    const own: Check = () => latest.current();
    checks.add(own);
    return () => {
      checks.delete(own);
    };
  }, [checks]);
}

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

/**
 * What stands in the fields of a form, and the one thing that sends it. What the service says of a field by its name
 * stands there.
 * @param act sends what stands in the fields; once it has, `isSaved` holds until something is typed
 */
export function useForm<Values extends object>(
  initial: Values | (() => Values),
  act: (values: Values) => Promise<unknown>,
) {
  const [values, setValues] = useState(initial);
  const [isSaved, setSaved] = useState(false);
  const action = useAction(async () => {
    setSaved(false);
    await act(values);
    setSaved(true);
  }, fieldsIn(values));
  const change =
    <Name extends keyof Values>(name: Name) =>
    (next: Values[Name]) => {
      setValues((before) => ({ ...before, [name]: next }));
      setSaved(false);
    };
  return {
    ...action,
    values,
    isSaved,
    clearFields: () => setValues(initial),
    /** The props of the field of that name. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: values[name],
      onChange: change(name),
    }),
    /** The same of a Switch. */
    toggle: <Name extends keyof Values>(name: Name & (Values[Name] extends boolean ? Name : never)) => ({
      isSelected: values[name] as boolean,
      onChange: change(name) as (next: boolean) => void,
    }),
  };
}

/** A Switch shows no error of its own: what is said of one stands below the fields. */
function fieldsIn(values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) => (typeof value === 'boolean' ? [] : [name]));
}

interface ActionFormProps {
  label: string;
  action: Pick<Action<void, unknown>, 'run' | 'isBusy' | 'message' | 'fieldErrors'> & { isSaved?: boolean };
  /** What its button says. */
  submit: string;
  kind?: 'primary' | 'plain';
  isDisabled?: boolean;
  /** What is said once it is saved. */
  saved?: ReactNode;
  children: ReactNode;
}

/** A form whose button does one thing; above it stands what came of that. */
export function ActionForm({
  label,
  action,
  submit,
  kind = 'primary',
  isDisabled = false,
  saved,
  children,
}: ActionFormProps) {
  return (
    <Form label={label} fieldErrors={action.fieldErrors} onSubmit={() => action.run()}>
      {children}
      <Failure message={action.message} />
      {action.isSaved && saved && <Notice kind="good">{saved}</Notice>}
      <div className="buttons">
        <Button type="submit" kind={kind} isDisabled={isDisabled} isPending={action.isBusy}>
          {submit}
        </Button>
      </div>
    </Form>
  );
}
