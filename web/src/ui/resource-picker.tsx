import { useEffect, useRef, useState } from 'react';
import {
  Button,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components';
import { useFormCheck } from './form.tsx';

interface Props<P extends Picked> {
  label: string;
  name: string;
  help?: string;
  isRequired?: boolean;
  value: Choice<P>;
  onChange(choice: Choice<P>): void;
  /** Those whose name fits the text; all of them for an empty text, up to a page. Keep it in useCallback. */
  find(text: string, signal?: AbortSignal): Promise<P[]>;
}

const typingMs = 200;

/** Whether the field may be sent as it stands; `completed` when a name that was only begun was filled in. */
interface Resolution {
  isReady: boolean;
  completed?: string;
}

/**
 * Picks a resource by typing its name. A text that names exactly one is taken for it when the field is
 * left; any other is an error of the field, and the form around is not sent.
 */
export function ResourcePicker<P extends Picked>(props: Props<P>) {
  const { label, name, help, isRequired = false, value, onChange, find } = props;
  const text = textOf(value);
  const [error, setError] = useState<string>();
  const [isOpened, setOpened] = useState(false);
  const picked = value && !('typed' in value) ? value : undefined;
  const found = useFound(find, picked ? '' : text, isOpened);
  const latest = useRef(value);
  latest.current = value;

  const change = (next: Choice<P>) => {
    latest.current = next;
    setError(undefined);
    onChange(next);
  };
  const resolving = useRef<Promise<Resolution>>(undefined);
  /** Leaving the field and sending the form come together: both are answered by one look. */
  const resolve = (how: { isLeft: boolean }) => {
    resolving.current ??= look(how).finally(() => {
      resolving.current = undefined;
    });
    return resolving.current;
  };
  const look = async ({ isLeft }: { isLeft: boolean }): Promise<Resolution> => {
    const before = latest.current;
    if (before === undefined) {
      if (isRequired) setError('Choose one.');
      return { isReady: !isRequired };
    }
    if (!('typed' in before)) {
      setError(undefined);
      return { isReady: true };
    }
    const matches = await find(before.typed.trim()).catch(() => undefined);
    if (latest.current !== before) return { isReady: false };
    const result = matches
      ? resolveChoice(before.typed, matches)
      : { error: 'The list could not be loaded. Try again.' };
    if ('error' in result) {
      setError(result.error);
      return { isReady: false };
    }
    const { picked: meant, isExact } = result;
    // What nobody has read yet is not sent.
    if (!isExact && !isLeft) {
      setError(`Do you mean “${meant.display}”? Choose it from the list.`);
      return { isReady: false };
    }
    change(meant);
    return isExact ? { isReady: true } : { isReady: false, completed: meant.display };
  };
  useFormCheck(async () => {
    const { isReady, completed } = await resolve({ isLeft: false });
    if (completed !== undefined) setError(`Completed to “${completed}”. If that is right, press again.`);
    return isReady;
  });

  const isListed = picked && found.items.some(({ reference }) => reference === picked.reference);
  const items = picked && !isListed ? [picked, ...found.items] : found.items;
  return (
    <ComboBox
      className="field"
      name={name}
      isRequired={isRequired}
      validationBehavior="aria"
      isInvalid={error !== undefined}
      menuTrigger="input"
      allowsEmptyCollection
      allowsCustomValue
      items={items.map((item) => ({ id: item.reference, item }))}
      inputValue={text}
      onFocus={() => setOpened(true)}
      onBlur={() => void resolve({ isLeft: true })}
      onInputChange={(next) => {
        const now = latest.current;
        if (next === textOf(now)) return;
        change(next.trim() === '' ? undefined : { typed: next });
      }}
      selectedKey={picked?.reference ?? null}
      onSelectionChange={(key) => {
        const chosen = items.find(({ reference }) => reference === key);
        if (chosen) change(chosen);
      }}
    >
      <Label>{label}</Label>
      <div className="input-row">
        <Input className="input" />
        <Button className="button button-plain" aria-label="Show the list">
          <span aria-hidden="true" className="arrow" />
        </Button>
      </div>
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error">
        {({ validationErrors }) => error ?? validationErrors.join(' ')}
      </FieldError>
      <Popover className="popover">
        <ListBox className="list-box" renderEmptyState={() => <div className="list-empty">{found.note}</div>}>
          {({ item: { reference, display, detail } }: { item: P }) => (
            <ListBoxItem id={reference} textValue={display} className="list-item">
              <Text slot="label">{display}</Text>
              {detail && (
                <Text slot="description" className="row-more">
                  {detail}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** What the list shows: asked for once the field was opened, and when typing pauses. */
function useFound<P extends Picked>(find: Props<P>['find'], wanted: string, isOpened: boolean) {
  const [found, setFound] = useState<{ items: P[]; note: string }>({ items: [], note: 'Loading…' });
  useEffect(() => {
    if (!isOpened) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      find(wanted.trim(), gone.signal).then(
        (items) => setFound({ items, note: 'No match' }),
        () => !gone.signal.aborted && setFound({ items: [], note: 'The list could not be loaded' }),
      );
    }, typingMs);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [wanted, find, isOpened]);
  return found;
}

/** A resource that was chosen in a picker. */
export interface Picked {
  /** `AccessPolicy/<id>` */
  reference: string;
  display: string;
  /** What tells it from another of the same name. */
  detail?: string;
}

/** What stands in a picker: a resource, a text that names none yet, or nothing. */
export type Choice<P extends Picked = Picked> = P | { typed: string } | undefined;

function textOf(choice: Choice): string {
  if (choice === undefined) return '';
  return 'typed' in choice ? choice.typed : choice.display;
}

/**
 * The resource that was chosen; undefined when the field is empty.
 * @throws {Error} for a text that names none: it must never count as nothing
 */
export function pickedOf<P extends Picked>(choice: Choice<P>): P | undefined {
  if (choice === undefined || !('typed' in choice)) return choice;
  throw new Error(`“${choice.typed}” is not in the list: choose one.`);
}

/**
 * Which of those found a typed text means: the one of that very name, else the only one.
 * @returns what is wrong, when it means none or several
 */
function resolveChoice<P extends Picked>(
  typed: string,
  found: readonly P[],
): { picked: P; isExact: boolean } | { error: string } {
  const same = found.filter(({ display }) => normalise(display) === normalise(typed));
  const [first, ...others] = same.length > 0 ? same : found;
  if (!first) return { error: `There is none named “${typed}”.` };
  if (others.length > 0) return { error: `Several match “${typed}”: choose one from the list.` };
  return { picked: first, isExact: same.length === 1 };
}

function normalise(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
