import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Loading } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { OperationDetails } from './operation-details.tsx';
import { type ApiDocument, sectionsOf } from './reference.ts';

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
