import { useMemo } from 'react';
import { useAddressState, useAddressText } from '../api/use-address-state.ts';
import { type ExecutionFilters, outcomes, times } from './filters.ts';

const valuesOf = <Value extends string>(options: readonly { value: Value }[]) =>
  options.map(({ value }) => value);

/** Which runs are wanted, as the address of the page says; the setter takes what changes. */
export function useAddressFilters(): [ExecutionFilters, (some: Partial<ExecutionFilters>) => void] {
  const [outcome, setOutcome] = useAddressState('outcome', valuesOf(outcomes), '');
  const [time, setTime] = useAddressState('time', valuesOf(times), '');
  const [requester, setRequester] = useAddressText('by');
  const [trace, setTrace] = useAddressText('trace');
  // One object for equal filters: a list is loaded again for another.
  const filters = useMemo(() => ({ outcome, time, requester, trace }), [outcome, time, requester, trace]);
  return [
    filters,
    (some) => {
      if (some.outcome !== undefined) setOutcome(some.outcome);
      if (some.time !== undefined) setTime(some.time);
      if (some.requester !== undefined) setRequester(some.requester);
      if (some.trace !== undefined) setTrace(some.trace);
    },
  ];
}
