import type { Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { SearchField } from '../members/search-field.tsx';
import type { Choice, Picked } from '../ui/choice.ts';
import { ResourcePicker } from '../ui/resource-picker.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { AuditChange, AuditFilters } from './audit-filters.ts';
import { deeds } from './deeds.ts';

interface Props {
  filters: AuditFilters;
  change: AuditChange;
  /** The name of whoever `filters.who` is, once an entry has told it. */
  whoName: string | undefined;
}

/** Narrows the log by kind, person, record and time; each holds as soon as it is chosen. */
export function FilterBar({ filters, change, whoName }: Props) {
  const find = useFindMembers();
  const [typed, setTyped] = useState<Choice>();
  const chosen: Choice = filters.who
    ? { reference: filters.who, display: whoName ?? filters.who }
    : undefined;
  return (
    <search className="filters filters-many">
      <Select label="What" value={filters.deed} options={deeds} onChange={change.deed} />
      <ResourcePicker
        label="Who"
        name="who"
        value={typed ?? chosen}
        find={find}
        onChange={(choice) => {
          const isPicked = choice !== undefined && !('typed' in choice);
          setTyped(choice);
          if (isPicked) change.who(choice.reference);
          else if (choice === undefined) change.who('');
        }}
      />
      <SearchField label="Record (Type/id)" value={filters.resource} onChange={change.resource} />
      <TextField label="From" type="date" value={filters.from} onChange={change.from} />
      <TextField label="Until" type="date" value={filters.to} onChange={change.to} />
    </search>
  );
}

/** People, Bots and keys of the Project, by the beginning of their name or address. */
function useFindMembers() {
  const api = useApi();
  return useCallback(
    async (text: string, signal?: AbortSignal): Promise<Picked[]> => {
      const query = new URLSearchParams({ _count: '20', ...(text ? { text } : {}) });
      const bundle = await api.get<Bundle<ProjectMembership>>(`${api.admin}/members?${query}`, signal);
      return (bundle.entry ?? []).flatMap(({ resource }) => {
        const { profile, userName } = resource ?? {};
        if (!profile?.reference) return [];
        const detail = userName ?? profile.reference.split('/')[0] ?? '';
        return [{ reference: profile.reference, display: profile.display ?? profile.reference, detail }];
      });
    },
    [api],
  );
}
