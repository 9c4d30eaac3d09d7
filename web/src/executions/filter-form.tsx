import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type ExecutionFilters, outcomes, times } from './filters.ts';

interface Props {
  filters: ExecutionFilters;
  onChange(some: Partial<ExecutionFilters>): void;
  isLive: boolean;
  onLive(isLive: boolean): void;
}

export function FilterForm({ filters, onChange, isLive, onLive }: Props) {
  return (
    <fieldset className="filters" aria-label="Filters">
      <Select
        label="Outcome"
        value={filters.outcome}
        options={outcomes}
        onChange={(outcome) => onChange({ outcome })}
      />
      <Select label="Time" value={filters.time} options={times} onChange={(time) => onChange({ time })} />
      <TextField
        label="Run by"
        help="As Practitioner/…"
        spellCheck="false"
        value={filters.requester}
        onChange={(requester) => onChange({ requester })}
      />
      <TextField
        label="Trace"
        help="The X-Trace-Id of a call"
        spellCheck="false"
        value={filters.trace}
        onChange={(trace) => onChange({ trace })}
      />
      <Switch isSelected={isLive} onChange={onLive}>
        Live
      </Switch>
    </fieldset>
  );
}
