import type { HttpRequest } from '../../../shared/http/request.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { contentOf, rawBinary } from './binary-body.ts';
import { parseBody, readPatch, requireResource } from './parse-resource.ts';
import { requireSameId } from './same-id.ts';
import type { Write } from './write.ts';

type Of<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>;

/** @throws {Refusal} invalid, unsupported-media-type */
export function parseCreate(type: string, request: HttpRequest): Of<'create'> {
  const condition = request.headers['if-none-exist']?.replace(/^\?/, '');
  return {
    kind: 'create',
    type,
    ...(condition === undefined ? {} : { query: condition }),
    ...parseContent(type, request),
  };
}

/** By id, or by the search in its query string. */
export function parseUpdate(type: string, id: string | undefined, request: HttpRequest): Of<'update'> {
  const content = parseContent(type, request, id);
  if (id !== undefined) requireSameId(content.body, id);
  const { 'if-none-match': ifNoneMatch } = request.headers;
  return {
    kind: 'update',
    type,
    ...targetOf(id, request),
    ...content,
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  };
}

export function parsePatchRequest(type: string, id: string | undefined, request: HttpRequest): Of<'patch'> {
  const operations = readPatch(parseBody(request.bytes(), request.headers['content-type']));
  return { kind: 'patch', type, ...targetOf(id, request), operations };
}

export function parseDelete(type: string, id: string | undefined, request: HttpRequest): Of<'delete'> {
  return { kind: 'delete', type, ...targetOf(id, request) };
}

function targetOf(id: string | undefined, { headers, query }: HttpRequest) {
  const match = headers['if-match'] === undefined ? {} : { ifMatch: headers['if-match'] };
  return id === undefined ? { query: query.toString(), ...match } : { id, ...match };
}

/** A resource as JSON, or the bytes of a Binary under whatever type they have. */
function parseContent(type: string, request: HttpRequest, id?: string) {
  const contentType = request.headers['content-type'];
  const bytes = request.bytes();
  if (type === 'Binary' && !/^application\/fhir\+json\b/i.test(contentType ?? '')) {
    if (!contentType) throw new Refusal('unsupported-media-type', 'A Binary needs a Content-Type');
    const body = rawBinary(contentType, request.headers['x-security-context']);
    return {
      body: id === undefined ? body : { ...body, id },
      binary: { bytes: bytes ?? Buffer.alloc(0) },
      isRaw: true,
    };
  }
  return contentOf(requireResource(parseBody(bytes, contentType), type));
}
