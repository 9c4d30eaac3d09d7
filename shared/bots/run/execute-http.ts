import { type HttpRequest, parseMediaType } from '../../carry/http/request.ts';
import {
  accepted,
  allOk,
  botFailure,
  fhirResponse,
  type HttpResponse,
  textResponse,
} from '../../carry/http/response.ts';
import { parseIdempotencyKey, replayed } from '../../identity/gate/claim.ts';
import { parseRunKey } from './cancel.ts';
import type { Accepted } from './claim.ts';
import { inputTypes } from './contract.ts';
import type { Executed } from './execute.ts';
import { encodeAnswer } from './input.ts';
import { printLog } from './output.ts';
import type { ExecuteRequest } from './services.ts';

/** What `$execute` answers. A Bot's fault is 400: existing clients repeat a POST on 401, 429 and 5xx. */
export function executeResponse(
  baseUrl: string,
  executed: Executed | Accepted,
  traceId: string,
): HttpResponse {
  const response =
    'jobId' in executed ? acceptedResponse(baseUrl, executed) : firstResponse(executed, traceId);
  return executed.isReplay ? replayed(response) : response;
}

/** FHIR R4 asynchronous requests: where to look for what comes of it. */
function acceptedResponse(baseUrl: string, { jobId }: Accepted): HttpResponse {
  const url = `${baseUrl}/fhir/R4/job/${jobId}/status`;
  return fhirResponse(202, accepted(url), { 'content-location': url });
}

function firstResponse({ output, result, charset, showLog }: Executed, traceId: string): HttpResponse {
  switch (output.kind) {
    case 'ok':
      return fhirResponse(200, allOk());
    case 'text':
      return output.mediaType === inputTypes.hl7
        ? hl7Response(output.text, charset)
        : textResponse(200, output.text, `${output.mediaType}; charset=utf-8`);
    case 'binary':
      return binaryResponse(output.bytes, output.mediaType, output.inline);
    case 'outcome':
      return textResponse(output.status, output.text, 'application/fhir+json; charset=utf-8');
    case 'failure': {
      const diagnostics = showLog ? printLog(result.log, result.logTruncated) : '';
      return fhirResponse(400, botFailure(output.code, output.text, diagnostics || `Trace ${traceId}`));
    }
  }
}

/** A message goes back in the character set in which its question came. */
function hl7Response(text: string, asked: string): HttpResponse {
  const { bytes, charset } = encodeAnswer(text, asked);
  const contentType = `${inputTypes.hl7}; charset=${charset}`;
  const response = textResponse(200, text, contentType);
  if (charset === 'utf-8') return response;
  return { ...response, body: bytes.toString('base64'), isBase64Encoded: true };
}

/** What users or Bots made is never a page of our origin. */
export function binaryResponse(bytes: Buffer, mediaType: string, inline: boolean): HttpResponse {
  return {
    statusCode: 200,
    headers: {
      'content-type': mediaType,
      'cache-control': 'no-store',
      'content-security-policy': "sandbox; default-src 'none'",
      ...(inline ? {} : { 'content-disposition': 'attachment' }),
    },
    body: bytes.toString('base64'),
    isBase64Encoded: true,
  };
}

/** What `$execute` reads of a request. @throws {Refusal} invalid for a malformed Idempotency-Key or X-Run-Key */
export function executeRequest(request: HttpRequest): ExecuteRequest {
  const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key']);
  const runKey = parseRunKey(request.headers['x-run-key']);
  const body = request.bytes();
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(runKey === undefined ? {} : { runKey }),
    contentType: contentTypeOf(request.headers['content-type'], body),
    body,
    headers: request.headers,
    traceId: request.traceId,
    isAsync: /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(request.headers.prefer ?? ''),
  };
}

/** API Gateway's HTTP APIs give a request without body and type this one: its caller said none. */
function contentTypeOf(said: string | undefined, body: Buffer | undefined): string | undefined {
  const isEmpty = body === undefined || body.length === 0;
  return isEmpty && parseMediaType(said)?.type === 'application/octet-stream' ? undefined : said;
}
