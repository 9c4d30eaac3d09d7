import { Refusal } from '../../shared/base/refusal.ts';
import type { HttpResponse } from '../../shared/carry/http/response.ts';
import type { Site, SiteFile } from './read-site.ts';

type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** Only what this origin serves as a file runs. */
const guards = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/**
 * A file of the app. A path without an extension is one of the app's own pages, which `index.html`
 * draws.
 * @param path below `/app/`; empty for the app itself
 * @throws {Refusal} not-found
 */
export function answerPath(site: Site, path: string, headers: RequestHeaders): HttpResponse {
  const name = /\.\w+$/.test(path) ? path : 'index.html';
  const file = site.get(name);
  if (!file) throw new Refusal('not-found', 'Not found');
  return answerFile(file, headers);
}

export function answerFile(file: SiteFile, headers: RequestHeaders): HttpResponse {
  const answered = {
    ...guards,
    etag: file.etag,
    vary: 'accept-encoding',
    'cache-control': file.cacheControl,
  };
  if (headers['if-none-match'] === file.etag) return { statusCode: 304, headers: answered };
  const isGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/.test(headers['accept-encoding'] ?? '');
  return {
    statusCode: 200,
    headers: {
      ...answered,
      'content-type': file.contentType,
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    },
    body: (isGzip ? file.gzipped : file.bytes).toString('base64'),
    isBase64Encoded: true,
  };
}
