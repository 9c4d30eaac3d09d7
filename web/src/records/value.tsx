import { fieldsOf } from '../../../shared/fields-of.ts';
import { Link } from '../ui/link.tsx';
import { formatValue } from './format-value.ts';

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
  return (
    <dl className="details">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{inWords(name)}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** `birthDate` is Birth date. */
function inWords(name: string): string {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
