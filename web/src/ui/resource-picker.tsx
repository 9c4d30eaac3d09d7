import type { AccessPolicy } from '@medplum/fhirtypes';
import { type ReactNode, useRef, useState } from 'react';
import { ComboBox, ListBoxItem, Text } from 'react-aria-components';
import { normalise, type Picked, type PickedResource, useFindByName } from '../api/fhir.ts';
import { useLoad } from '../api/use-api.ts';
import { Suggesting, useSettled } from './fields.tsx';
import { useFormCheck } from './form.tsx';

interface Props<P extends Picked> {
  label: string;
  name: string;
  /** What helps to fill it. */
  children?: ReactNode;
  value: Choice<P>;
  onChange(choice: Choice<P>): void;
  /** Those whose name fits the text; all of them for an empty text, up to a page. */
  find(text: string, signal?: AbortSignal): Promise<P[]>;
}

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
  const { label, name, value, onChange, find, children } = props;
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
    if (before === undefined || !('typed' in before)) {
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
      <Suggesting label={label} help={children} error={error} note={found.note}>
        {({ item: { reference, display, detail } }: { id: string; item: P }) => (
          <ListBoxItem id={reference} textValue={display} className="list-item">
            <Text slot="label">{display}</Text>
            {detail && (
              <Text slot="description" className="row-more">
                {detail}
              </Text>
            )}
          </ListBoxItem>
        )}
      </Suggesting>
    </ComboBox>
  );
}

/** What the list shows: asked for once the field was opened, and when typing pauses. */
function useFound<P extends Picked>(find: Props<P>['find'], wanted: string, isOpened: boolean) {
  const text = useSettled(wanted.trim());
  const { value, message } = useLoad(`${isOpened} ${text}`, async (signal) =>
    isOpened ? find(text, signal) : undefined,
  );
  if (message !== undefined) return { items: [], note: 'The list could not be loaded' };
  return { items: value ?? [], note: value ? 'No match' : 'Loading…' };
}

/** A policy that was chosen. */
export type PickedPolicy = PickedResource<AccessPolicy>;

/** Picks an access policy of the Project. */
export function PolicyPicker({ label = 'Access policy', ...props }: PolicyPickerProps) {
  return <ResourcePicker label={label} find={useFindByName('AccessPolicy')} {...props} />;
}

type PolicyPickerProps = Omit<Props<PickedPolicy>, 'find' | 'label'> & { label?: string };

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

/** What was chosen as a Reference; undefined when the field is empty. @throws {Error} as `pickedOf` */
export function referenceOf(choice: Choice): { reference: string } | undefined {
  const picked = pickedOf(choice);
  return picked && { reference: picked.reference };
}
