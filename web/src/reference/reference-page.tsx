import { useCallback } from 'react';
import { useApi, useLoad } from '../api/use-api.ts';
import { Details, Loading } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';

/** Every operation of the API, from the document that the service itself publishes. */
export function ReferencePage() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<ApiDocument>('openapi.json', signal), [api]);
  const document = useLoad(load);
  return (
    <Page title="API reference">
      <p>
        What programs may ask of this service, with an API key or as a person. As a document for tools:{' '}
        <a className="link" href="/openapi.json">
          OpenAPI 3.1
        </a>
        .
      </p>
      <Loading of={document}>
        {(value) =>
          sectionsOf(value).map(({ name, description, operations }) => (
            <section key={name} aria-labelledby={`about-${name}`}>
              <h2 id={`about-${name}`}>{name}</h2>
              <p>{description}</p>
              {operations.map((operation) => (
                <OperationDetails key={operation.operationId} operation={operation} />
              ))}
            </section>
          ))
        }
      </Loading>
    </Page>
  );
}

/** An operation in one line; what it takes and answers when it is opened. */
function OperationDetails({ operation }: { operation: Described }) {
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

/** `/openapi.json`, as far as it is shown. */
interface ApiDocument {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string; description?: string }[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { description?: string }>;
}

/** One operation with where it is. */
interface Described extends Operation {
  method: string;
  path: string;
}

/** The operations by what they are about, in the order of the document. */
function sectionsOf({ tags, paths }: ApiDocument) {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  return tags.map((tag) => ({ ...tag, operations: all.filter(({ tags: [first] }) => first === tag.name) }));
}
