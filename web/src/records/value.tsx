import type { Resource } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/base/values.ts';
import { type Api, useApi, useLoad } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { useSession } from '../session/session-state.ts';
import { Details, Link } from '../ui/basics.tsx';
import { formatValue, nameOf } from './record-text.ts';

/** A value of a record; references lead on, what holds others is laid out below one another. */
export function Value({ value }: { value: unknown }) {
  if (Array.isArray(value) && formatValue(value) === undefined) {
    return (
      <ul className="values">
        {value.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list of a record has no other key, and is not changed here
          <li key={at}>
            <Value value={one} />
          </li>
        ))}
      </ul>
    );
  }
  const { reference, display } = fieldsOf(value);
  if (typeof reference === 'string') return <ReferenceLink reference={reference} display={display} />;
  const text = formatValue(value);
  return text ?? <Fields of={fieldsOf(value)} />;
}

const inProject = /^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/;

function ReferenceLink({ reference, display }: { reference: string; display: unknown }) {
  const name = typeof display === 'string' && display ? display : reference;
  const [path = ''] = reference.split('/_history/');
  if (!inProject.test(path)) return name;
  return (
    <Link className="link" href={`/records/${path}`}>
      {name}
    </Link>
  );
}

/** The elements of a record or of a part of it, each with its name in words. */
export function Fields({ of }: { of: Record<string, unknown> }) {
  const values = Object.entries(of).map(([name, value]) => [
    inWords(name),
    <Value key={name} value={value} />,
  ]);
  return <Details of={Object.fromEntries(values)} />;
}

function inWords(name: string): string {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * A resource's name in place of its reference; its type while it is not known, or not to be read. Asked for once in a
 * session, since a list names the same few again and again.
 */
export function NameOf({ reference = '' }: { reference: string | undefined }) {
  const api = useApi();
  const { memory } = useSession();
  const type = profileType(reference);
  const { value: name = type } = useLoad(reference, () => {
    const known = `name ${reference}`;
    const asked = (memory.get(known) as Promise<string> | undefined) ?? ask(api, reference, type);
    memory.set(known, asked);
    return asked;
  });
  return <span title={reference || undefined}>{name}</span>;
}

async function ask(api: Api, reference: string, type: string): Promise<string> {
  // Users are above Projects, and a membership has no name of its own.
  if (!/^(Patient|Practitioner|RelatedPerson|Bot|ClientApplication|AccessPolicy)\/[\w.-]+$/.test(reference))
    return type;
  return api.get<Resource>(`fhir/R4/${reference}`).then(nameOf, () => type);
}
