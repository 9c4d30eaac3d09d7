import type { Caller } from '../../shared/auth/token.ts';
import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, type Endpoint, lambdaHandler, open } from '../../shared/http/endpoint.ts';
import { allOk } from '../../shared/http/outcome.ts';
import { decodeUtf8, type HttpRequest } from '../../shared/http/request.ts';
import { fhirResponse, type HttpResponse } from '../../shared/http/response.ts';
import { Refusal } from '../../shared/refusal.ts';
import { isResourceType } from '../../shared/search/registry.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import { answerBinary, answerRead, answerWrite } from './answer.ts';
import { capabilityStatement } from './capability-statement.ts';
import { carryOut } from './carry-out.ts';
import { changeUser } from './change-user.ts';
import { parseBody, requireResource } from './parse-resource.ts';
import { parseCreate, parseDelete, parsePatchRequest, parseUpdate } from './parse-write.ts';
import { readBinary } from './read-binary.ts';
import { readEverything } from './read-everything.ts';
import { readHistory } from './read-history.ts';
import { cancelJob, readJob } from './read-job.ts';
import { readResource } from './read-resource.ts';
import { readTypeHistory } from './read-type-history.ts';
import { runBundle } from './run-bundle.ts';
import { searchResources } from './search-resources.ts';
import { refuseUnknown } from './unknown-route.ts';
import type { Outcome, Write } from './write.ts';

const core = coreServices(process.env);
const services = { ...core, runSecret: stageKeys(requireVariable(process.env, 'KEYS'), core.table).secret };
const startedAt = new Date(services.now()).toISOString();

export const handler = dispatch({
  [routeKey(routes.metadata)]: lambdaHandler(
    services,
    open(routes.metadata, 'raw', async () => capabilityStatement(services.baseUrl, startedAt), ok),
  ),
  [routeKey(routes.bundle)]: serve(routes.bundle, async (caller, request) =>
    ok(await runBundle(services, caller, requireResource(bodyOf(request), 'Bundle'))),
  ),
  [routeKey(routes.search)]: serve(routes.search, async (caller, request) =>
    ok(await searchResources(services, caller, { type: typeOf(request), query: request.query })),
  ),
  [routeKey(routes.searchByPost)]: serve(routes.searchByPost, async (caller, request) =>
    ok(
      await searchResources(services, caller, {
        type: typeOf(request),
        query: formOf(request),
        isPrivate: true,
      }),
    ),
  ),
  [routeKey(routes.create)]: write(routes.create, (request) => parseCreate(typeOf(request), request)),
  [routeKey(routes.conditionalUpdate)]: write(routes.conditionalUpdate, (request) =>
    parseUpdate(typeOf(request), undefined, request),
  ),
  [routeKey(routes.conditionalPatch)]: write(routes.conditionalPatch, (request) =>
    parsePatchRequest(typeOf(request), undefined, request),
  ),
  [routeKey(routes.conditionalDelete)]: write(routes.conditionalDelete, (request) =>
    parseDelete(typeOf(request), undefined, request),
  ),
  [routeKey(routes.read)]: serve(routes.read, (caller, request) => read(caller, request, undefined)),
  [routeKey(routes.readVersion)]: serve(routes.readVersion, (caller, request) =>
    read(caller, request, request.param('versionId')),
  ),
  [routeKey(routes.update)]: write(routes.update, (request) =>
    parseUpdate(typeOf(request), idOf(request), request),
  ),
  [routeKey(routes.patch)]: write(routes.patch, (request) =>
    parsePatchRequest(typeOf(request), idOf(request), request),
  ),
  [routeKey(routes.delete)]: write(routes.delete, (request) =>
    parseDelete(typeOf(request), idOf(request), request),
  ),
  [routeKey(routes.history)]: serve(routes.history, async (caller, request) => {
    const { query } = request;
    return ok(await readHistory(services, caller, { type: typeOf(request), id: idOf(request), query }));
  }),
  [routeKey(routes.everything)]: serve(routes.everything, async (caller, request) =>
    ok(await readEverything(services, caller, { id: idOf(request), query: request.query })),
  ),
  [routeKey(routes.typeHistory)]: serve(routes.typeHistory, async (caller, request) =>
    ok(await readTypeHistory(services, caller, { type: typeOf(request), query: request.query })),
  ),
  [routeKey(routes.jobStatus)]: serve(routes.jobStatus, async (caller, request) => {
    const job = await readJob(services, caller, { id: request.param('id') });
    const isUnderWay = job.status === 'accepted' || job.status === 'active';
    return isUnderWay ? fhirResponse(202, job, { 'retry-after': '1' }) : ok(job);
  }),
  [routeKey(routes.cancelJob)]: serve(routes.cancelJob, async (caller, request) => {
    await cancelJob(services, caller, { id: request.param('id') });
    return fhirResponse(202, allOk());
  }),
  [routeKey(routes.unknown)]: lambdaHandler(
    services,
    open(
      routes.unknown,
      'raw',
      async ({ method, rawPath }) => {
        throw refuseUnknown(method, rawPath);
      },
      () => fhirResponse(404, {}),
    ),
  ),
});

function serve(
  row: { access: 'token' },
  run: (caller: Caller, request: HttpRequest) => Promise<HttpResponse>,
) {
  return lambdaHandler(
    services,
    authenticated(row, 'raw', run, (response) => response),
  );
}

function write(row: { access: 'token' }, parse: (request: HttpRequest) => Write) {
  const endpoint: Endpoint = authenticated(
    row,
    'raw',
    (caller, request) => writeOne(caller, parse(request)),
    (outcome, request) => answerWrite(services.baseUrl, outcome, request),
  );
  return lambdaHandler(services, endpoint);
}

/** A User is above Projects: no policy speaks of it, and its own rules do. */
async function writeOne(caller: Caller, one: Write): Promise<Outcome> {
  const isUsers = one.type === 'User' && (one.kind === 'update' || one.kind === 'patch');
  if (isUsers) return changeUser(services, caller, one);
  return (await carryOut(services, caller, [one]))[0] as Outcome;
}

async function read(
  caller: Caller,
  request: HttpRequest,
  versionId: string | undefined,
): Promise<HttpResponse> {
  const wanted = { id: idOf(request), ...(versionId === undefined ? {} : { versionId }) };
  const type = typeOf(request);
  if (type === 'Binary') return answerBinary(await readBinary(services, caller, wanted), request);
  return answerRead((await readResource(services, caller, { type, ...wanted })).resource, request);
}

function typeOf(request: HttpRequest): string {
  const type = request.param('resourceType');
  if (!isResourceType(type)) throw new Refusal('not-found', `${type} is not a resource type`);
  return type;
}

/** An operation such as `$execute` stands where an id would, under another method. */
function idOf(request: HttpRequest): string {
  const id = request.param('id');
  if (id.startsWith('$')) throw refuseUnknown(request.method, request.rawPath);
  return id;
}

function bodyOf({ bytes, headers }: HttpRequest): unknown {
  return parseBody(bytes(), headers['content-type']);
}

/** R4: the parameters of `_search` come as a form, in the URL, or both. */
function formOf({ bytes, headers, query }: HttpRequest): URLSearchParams {
  const body = bytes();
  if (body === undefined) return query;
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'Content-Type must be application/x-www-form-urlencoded');
  }
  return new URLSearchParams([...query, ...new URLSearchParams(decodeUtf8(body))]);
}

function ok(body: object): HttpResponse {
  return fhirResponse(200, body);
}
