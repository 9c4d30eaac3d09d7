import { Details } from '../ui/details.tsx';
import type { Described } from './reference.ts';

/** An operation in one line; what it takes and answers when it is opened. */
export function OperationDetails({ operation }: { operation: Described }) {
  const { method, path, summary, description, parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses).flatMap(([status, { description: text }]) =>
    text === undefined ? [] : [[status, text] as const],
  );
  return (
    <details className="reference-operation">
      <summary>
        <code>
          {method} {path}
        </code>
        <span>{summary}</span>
      </summary>
      {description && <p>{description}</p>}
      <Details
        items={[
          ...parameters.map(
            ({ name, in: place, description: text = '' }) => [`${name} (${place})`, text] as const,
          ),
          ...(requestBody ? [['Body', Object.keys(requestBody.content).join(', ')] as const] : []),
          ...answers,
        ]}
      />
    </details>
  );
}
