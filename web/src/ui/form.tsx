import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { Form as AriaForm } from 'react-aria-components';
import { type ActionState, useAction } from '../api/use-api.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { Button, Card, type CardProps, Failure, Notice } from './basics.tsx';

/** Finds out whether a field is ready to be sent; a field that is not shows why. */
type Check = () => Promise<boolean>;

const FormChecks = createContext<Set<Check> | undefined>(undefined);

/** A check that the form around waits for before it sends anything. */
export function useFormCheck(check: Check): void {
  const checks = useContext(FormChecks);
  useEffect(() => {
    checks?.add(check);
    return () => void checks?.delete(check);
  }, [checks, check]);
}

interface FormProps {
  label: string;
  /** What its button does, and what the service said to it: of a field, by its name. */
  action: Pick<ActionState, 'run' | 'isBusy' | 'message' | 'fieldErrors'> & {
    isSaved?: boolean;
  };
  submit?: string;
  kind?: 'primary' | 'plain';
  isDisabled?: boolean;
  /** In place of the action, which may follow. */
  onSubmit?(): void;
  /** What is said once it is saved. */
  saved?: ReactNode;
  /** Further buttons beside its own. */
  beside?: ReactNode;
  /** All of its buttons, in place of the one. */
  buttons?: ReactNode;
  children: ReactNode;
}

/**
 * Fields and the button that sends them; above the button stands what came of it. Checks of the fields come
 * first; what the service refuses stands at its field, which takes the focus.
 */
export function Form(props: FormProps) {
  const { label, action, submit, kind = 'primary', isDisabled = false, saved, beside, buttons } = props;
  const { fieldErrors } = action;
  const form = useRef<HTMLFormElement>(null);
  const [checks] = useState(() => new Set<Check>());
  const [round, setRound] = useState(0);
  const act = useEffectEvent(props.onSubmit ?? (() => void action.run()));
  useEffect(() => {
    // An error goes while its field is put right. When the field is left would be too late: the page would move
    // under the pointer that is about to press the button below.
    const recheck = ({ target }: Event) => {
      const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
      if (isField && target.form === form.current && target.ariaInvalid === 'true')
        target.dispatchEvent(new Event('change'));
    };
    // At the document, because what was typed must have reached React before.
    document.addEventListener('input', recheck);
    return () => document.removeEventListener('input', recheck);
  }, []);
  useEffect(() => {
    if (Object.keys(fieldErrors).length > 0) focusFirstError(form.current);
  }, [fieldErrors]);
  // A check may have put a value in: what is sent is what stands there after the next drawing.
  useEffect(() => {
    if (round > 0) act();
  }, [round]);
  const send = async () => {
    const results = await Promise.all([...checks].map((check) => check()));
    if (results.every(Boolean)) setRound((earlier) => earlier + 1);
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
          void send();
        }}
      >
        {props.children}
        <Failure message={action.message} />
        {action.isSaved && saved && <Notice kind="good">{saved}</Notice>}
        {buttons}
        {submit !== undefined && (
          <div className="buttons">
            <Button type="submit" kind={kind} isDisabled={isDisabled} isPending={action.isBusy}>
              {submit}
            </Button>
            {beside}
          </div>
        )}
      </AriaForm>
    </FormChecks>
  );
}

function focusFirstError(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid] button')?.focus();
}

interface FormCardProps extends Omit<FormProps, 'label'>, Pick<CardProps, 'title' | 'label' | 'className'> {}

/** A form in a frame of its own. */
export function FormCard({ title, label = title ?? '', className = 'card narrow', ...form }: FormCardProps) {
  return (
    <Card title={title} label={label} className={className}>
      <Form label={label} {...form} />
    </Card>
  );
}

/**
 * What stands in the fields of a form, and the one thing that sends it. What the service says of a field by its name
 * stands there.
 * @param act sends what stands in the fields; once it has, `isSaved` holds until something is typed
 * @param options.keptAs the name under which it is kept, in memory, while the person is elsewhere
 */
export function useForm<Values extends object>(
  initial: Values | (() => Values),
  act: (values: Values) => Promise<unknown>,
  { keptAs, onTyping }: { keptAs?: string; onTyping?(next: Values): void } = {},
) {
  const [values, setValues] = useKept<Values>(keptAs, initial);
  const [isSaved, setSaved] = useState(false);
  const send = async () => {
    setSaved(false);
    await act(values);
    setSaved(true);
  };
  const action = useAction(send, fieldsIn(values));
  const change = (some: Partial<Values>) => {
    setValues((before) => ({ ...before, ...some }));
    setSaved(false);
    onTyping?.({ ...values, ...some });
  };
  const changeOf =
    <Name extends keyof Values>(name: Name) =>
    (next: Values[Name]) =>
      change({ [name]: next } as unknown as Partial<Values>);
  return {
    ...action,
    /** What `run` does. @throws what the service said */
    send,
    values,
    isSaved,
    change,
    clearFields: () => setValues(initial),
    /** The props of the field of that name. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: values[name],
      onChange: changeOf(name),
    }),
    toggle: <Name extends keyof Values>(name: Name & (Values[Name] extends boolean ? Name : never)) => ({
      isSelected: values[name] as boolean,
      onChange: changeOf(name) as (next: boolean) => void,
    }),
  };
}

/** A Switch shows no error of its own: what is said of one stands below the fields. */
function fieldsIn(values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) => (typeof value === 'boolean' ? [] : [name]));
}
