import { outcomeErrorOf } from './operation-outcome-error.ts';
import { serviceUrl } from './service-url.ts';

/** A call without a token: what is in the body speaks for it. @throws {OperationOutcomeError} */
export async function postJson(baseUrl: string | URL, path: string, body: object): Promise<unknown> {
  const response = await fetch(serviceUrl(baseUrl, path), {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit',
    redirect: 'error',
  });
  if (!response.ok) throw await outcomeErrorOf(response);
  return response.json();
}
