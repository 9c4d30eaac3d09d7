import { isJson, mediaType } from './request-body.ts';

/**
 * A successful answer by its type: JSON parsed, text and HL7 v2 as a string, everything else as a
 * Blob. An empty answer that is not text is `undefined`.
 * @throws {SyntaxError} when a JSON answer is not JSON
 */
export async function readAnswer(response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? '';
  const type = mediaType(contentType);
  if (type === 'text/plain' || type === 'x-application/hl7-v2+er7') return response.text();
  if (isJson(type)) {
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }
  const blob = await response.blob();
  return type === '' && blob.size === 0 ? undefined : blob;
}
