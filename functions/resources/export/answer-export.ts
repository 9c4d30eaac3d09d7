import type { ExportFile } from '../../../shared/export/export-job.ts';
import { emptyResponse, type HttpResponse, jsonResponse } from '../../../shared/http/response.ts';
import { longestAnswerBytes } from '../../../shared/limits.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { ExportState } from './read-export.ts';

/** So long clients may ask every second; later every ten. */
const briefMs = 10_000;

export function answerState(state: ExportState): HttpResponse {
  if (state.kind === 'ended') {
    return jsonResponse(200, state.manifest, { expires: new Date(state.expiresAtMs).toUTCString() });
  }
  const { progress, ageMs } = state;
  return emptyResponse(202, { 'x-progress': progress, 'retry-after': ageMs < briefMs ? '1' : '10' });
}

/**
 * The text of a file, gzipped where the caller takes that.
 * @throws {Refusal} not-acceptable when it is too long for an answer otherwise: one large Binary
 */
export function answerFile(
  { file, gzipped, text }: { file: ExportFile; gzipped: Buffer; text: Buffer },
  acceptEncoding: string | undefined,
): HttpResponse {
  const isGzip = takesGzip(acceptEncoding ?? '');
  if (!isGzip && file.bytes > longestAnswerBytes) {
    throw new Refusal(
      'not-acceptable',
      'The file is too long to be sent as it is: send Accept-Encoding: gzip',
    );
  }
  const body = isGzip ? gzipped : text;
  return {
    statusCode: 200,
    headers: {
      'content-type': 'application/fhir+ndjson',
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
      vary: 'accept-encoding',
      'content-disposition': `attachment; filename="${file.name}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: body.toString('base64'),
    isBase64Encoded: true,
  };
}

function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding
    .split(',')
    .some((one) => /^\s*(?:gzip|\*)\s*(?:;|$)/i.test(one) && !/;\s*q=0(?:\.0*)?\s*$/.test(one));
}
