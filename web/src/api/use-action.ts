import { useCallback, useRef, useState } from 'react';
import { fieldErrorsOf, messageOf } from './message-of.ts';

export interface Action<Input, Result> {
  /** Does it once: while it runs, calls are ignored. Undefined when it failed. */
  run(input: Input): Promise<Result | undefined>;
  isBusy: boolean;
  /** What went wrong, without what stands at a field. */
  message: string | undefined;
  /** By field, as the service names it. */
  fieldErrors: Record<string, string>;
  clear(): void;
}

type Said = Pick<Action<unknown, unknown>, 'message' | 'fieldErrors'>;

const nothing: Said = { message: undefined, fieldErrors: {} };

/** Something that a person does, with what the service said to it. @param fields those that show their own errors */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  fields: readonly string[] = [],
): Action<Input, Result> {
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState(nothing);
  const running = useRef(false);
  const run = async (input: Input) => {
    if (running.current) return undefined;
    running.current = true;
    setBusy(true);
    setSaid(nothing);
    try {
      return await act(input);
    } catch (thrown) {
      // Kept as one object: a form clears an error of the service when its field is changed, once.
      setSaid({ message: messageOf(thrown, fields), fieldErrors: fieldErrorsOf(thrown, fields) });
      return undefined;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  const clear = useCallback(() => setSaid(nothing), []);
  return { run, isBusy, ...said, clear };
}
