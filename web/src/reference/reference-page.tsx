import { useGet } from '../api/use-api.ts';
import { Card, Details, Loading } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';

/** Every operation of the API, from the document that the service itself publishes. */
export function ReferencePage() {
  const document = useGet<ApiDocument>('openapi.json');
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
            <Card key={name} title={name} className="">
              <p>{description}</p>
              {operations.map((operation) => (
                <OperationDetails key={operation.operationId} operation={operation} />
              ))}
            </Card>
          ))
        }
      </Loading>
    </Page>
  );
}

function OperationDetails({ operation }: { operation: Described }) {
  const { method, path, summary, description, parameters = [], requestBody, responses } = operation;
  const asked = Object.fromEntries([
    ...parameters.map(({ name, in: place, description: text = '' }) => [`${name} (${place})`, text]),
    ...(requestBody ? [['Body', Object.keys(requestBody.content).join(', ')]] : []),
  ]);
  const answers = Object.entries(responses).map(([status, { description: text }]) => [status, text]);
  return (
    <details className="reference-operation">
      <summary>
        <code>
          {method} {path}
        </code>
        <span>{summary}</span>
      </summary>
      {description && <p>{description}</p>}
      {Object.keys(asked).length > 0 && <Details of={asked} />}
      <Details of={Object.fromEntries(answers)} />
    </details>
  );
}

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

interface Described extends Operation {
  method: string;
  path: string;
}

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
