import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { ExecutionFilters } from './filters.ts';

const outcomes = [
  { value: '', label: 'Every outcome' },
  { value: 'success', label: 'Succeeded' },
  { value: 'failure', label: 'Failed' },
  { value: 'unknown', label: 'Unknown' },
] as const;
const times = [
  { value: '', label: 'Any time' },
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last 24 hours' },
  { value: 'week', label: 'Last 7 days' },
] as const;

interface Props {
  filters: ExecutionFilters;
  onChange(filters: ExecutionFilters): void;
  isLive: boolean;
  onLive(isLive: boolean): void;
}

export function FilterForm({ filters, onChange, isLive, onLive }: Props) {
  const change = (some: Partial<ExecutionFilters>) => onChange({ ...filters, ...some });
  return (
    <fieldset className="filters" aria-label="Filters">
      <Select
        label="Outcome"
        value={filters.outcome}
        options={outcomes}
        onChange={(outcome) => change({ outcome })}
      />
      <Select label="Time" value={filters.time} options={times} onChange={(time) => change({ time })} />
      <TextField
        label="Run by"
        help="As Practitioner/…"
        spellCheck="false"
        value={filters.requester}
        onChange={(requester) => change({ requester })}
      />
      <TextField
        label="Trace"
        help="The X-Trace-Id of a call"
        spellCheck="false"
        value={filters.trace}
        onChange={(trace) => change({ trace })}
      />
      <Switch isSelected={isLive} onChange={onLive}>
        Live
      </Switch>
    </fieldset>
  );
}
