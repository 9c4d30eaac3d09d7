import { randomUUID } from 'node:crypto';
import type { Ground } from './ground.ts';
import { bound, type Kind, type Outcome, pick, type Request, unknown } from './kind.ts';
import type { Model } from './search.ts';

/** The record of a Project that has one identifier; each write has a number of its own as its value. */
type Input =
  | { do: 'create unless there'; value: number }
  | { do: 'create or update'; value: number }
  | { do: 'update'; id: string; ifMatch: string; value: number }
  | { do: 'patch'; id: string; value: number }
  | { do: 'read'; id: string }
  | { do: 'delete'; id: string }
  | { do: 'search' };

interface Output extends Outcome {
  /** Undefined when there is none. */
  found?: Found | undefined;
}

interface Found {
  id: string;
  version: string;
  value: number;
}

/** Undefined in the beginning and after a delete. */
interface State {
  found?: Found;
}

export const recordModel: Model<State, Input, Output> = {
  initial: {},
  step(state, input, output) {
    return effectsOf(state, input).flatMap(({ status, shows, ...next }) => {
      if (output === undefined) return [next];
      if (output.status !== status) return [];
      if (!shows) return [next];
      const [is, said] = [next.found, output.found];
      if (!is || !said) return is || said ? [] : [next];
      const [id, version] = [bound(is.id, said.id), bound(is.version, said.version)];
      return id && version && is.value === said.value ? [{ found: { ...is, id, version } }] : [];
    });
  },
};

/** What an operation does that takes effect now: one of these. */
function effectsOf({ found }: State, input: Input): (State & { status: number; shows?: true })[] {
  const now = found ? { found } : {};
  if (input.do === 'search') return [{ ...now, status: 200, shows: true }];
  if (input.do === 'create unless there' || input.do === 'create or update') {
    const { value } = input;
    const isCreated = { found: { id: unknown, version: unknown, value }, status: 201, shows: true as const };
    if (!found) return [isCreated];
    if (input.do === 'create unless there') return [{ found, status: 200, shows: true }];
    return [{ found: { ...found, version: unknown, value }, status: 200, shows: true }];
  }
  const isGone = (status: number) => [{ ...now, status }];
  const isIt = (it: Found): (State & { status: number; shows?: true })[] => {
    switch (input.do) {
      case 'read':
        return [{ found: it, status: 200, shows: true }];
      case 'delete':
        return [{ status: 200 }];
      case 'update':
        if (it.version !== input.ifMatch) return [{ found: it, status: 412 }];
        return [{ found: { ...it, version: unknown, value: input.value }, status: 200, shows: true }];
      case 'patch':
        return [{ found: { ...it, version: unknown, value: input.value }, status: 200, shows: true }];
    }
  };
  const gone = { read: 410, delete: 200, update: 412, patch: 410 }[input.do];
  if (found?.id === input.id) return isIt(found);
  // It may be the record of that name again, which was deleted before.
  if (found?.id === unknown) return [...isIt({ ...found, id: input.id }), ...isGone(gone)];
  return isGone(gone);
}

export function records({ projects }: Ground): Kind<State, Input, Output> {
  const { token } = projects[0];
  const value = randomUUID();
  const query = `identifier=urn:linear|${value}`;
  const seen: Found[] = [];
  let written = 0;

  const body = (n: number, more: object = {}) => ({
    ...{ resourceType: 'Patient', identifier: [{ system: 'urn:linear', value }], multipleBirthInteger: n },
    ...more,
  });
  const foundIn = ({
    id,
    meta,
    multipleBirthInteger,
  }: ReturnType<typeof body> & { id: string; meta: { versionId: string } }): Found => ({
    id,
    version: meta.versionId,
    value: multipleBirthInteger,
  });
  const learn = (found: Found): Found => {
    seen.push(found);
    return found;
  };

  return {
    model: recordModel,
    choose({ what, which, how }) {
      const one = pick(seen, which);
      const next = { value: ++written };
      const kind = what % 14;
      if (!one || kind < 4)
        return { do: how % 2 === 0 ? 'create or update' : 'create unless there', ...next };
      const { id, version } = one;
      if (kind < 8) return { do: 'update', id, ifMatch: version, ...next };
      if (kind < 10) return { do: 'patch', id, ...next };
      if (kind === 10) return { do: 'delete', id };
      return kind === 11 ? { do: 'search' } : { do: 'read', id };
    },
    request(input): Request {
      switch (input.do) {
        case 'search':
          return { method: 'GET', path: `fhir/R4/Patient?${query}`, token };
        case 'create unless there': {
          const headers = { 'if-none-exist': query };
          return { method: 'POST', path: 'fhir/R4/Patient', body: body(input.value), headers, token };
        }
        case 'create or update':
          return { method: 'PUT', path: `fhir/R4/Patient?${query}`, body: body(input.value), token };
      }
      const path = `fhir/R4/Patient/${input.id}`;
      switch (input.do) {
        case 'read':
          return { method: 'GET', path, token };
        case 'delete':
          return { method: 'DELETE', path, token };
        case 'patch': {
          const operations = [{ op: 'replace', path: '/multipleBirthInteger', value: input.value }];
          const headers = { 'content-type': 'application/json-patch+json' };
          return { method: 'PATCH', path, body: operations, headers, token };
        }
        case 'update': {
          const headers = { 'if-match': `W/"${input.ifMatch}"` };
          return { method: 'PUT', path, body: body(input.value, { id: input.id }), headers, token };
        }
      }
    },
    read(input, { status, json }) {
      if (status >= 300) return { status };
      if (input.do === 'delete') return { status };
      if (input.do !== 'search') return { status, found: learn(foundIn(json)) };
      const entries = json.entry ?? [];
      // Two are never right.
      if (entries.length > 1) return { status: 300 };
      return entries.length > 0 ? { status, found: learn(foundIn(entries[0].resource)) } : { status };
    },
    last: () => [
      { do: 'search' },
      ...[...new Set(seen.map(({ id }) => id))].map((id) => ({ do: 'read', id }) as const),
    ],
  };
}
