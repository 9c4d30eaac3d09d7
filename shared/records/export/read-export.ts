import { longestAnswerBytes } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { type Disclosure, noteNamed, noteShown, noteWhole } from '../../carry/disclosure.ts';
import { emptyResponse, type HttpResponse, jsonResponse } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { agentOf, auditAction } from '../../identity/audit/audit-event.ts';
import { record } from '../../identity/audit/record.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, isRoot, mayAdminister, requireOwn } from '../../identity/gate/actor.ts';
import { readResource } from '../../store/fhir/stored-resource.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { mayExport, mayExportAll } from './begin-export.ts';
import {
  deletedFile,
  type ExportFile,
  type ExportJob,
  errorFile,
  exportEntity,
  exportFileOf,
  exportOf,
  isOverdue,
  listFiles,
  readFile,
  textOfFile,
} from './export-job.ts';

type ExportState =
  | { kind: 'under-way'; progress: string; ageMs: number }
  | { kind: 'ended'; manifest: object; expiresAtMs: number };

/**
 * For who asked for it and for administrators, as long as they could begin it: how much there is of a type is part of it.
 * @throws {Refusal} not-found, of another Project's too; forbidden; unprocessable for one that was given up
 */
export async function readExport(
  services: Services,
  caller: Caller,
  { id }: { id: string },
): Promise<ExportState> {
  const { actor, job } = await requireExport(services, caller, id);
  if (!mayExportAll(actor, job)) throw new Refusal('forbidden', 'Forbidden');
  if (job.status === 'error') throw new Refusal('unprocessable', job.problem ?? 'The export was given up');
  if (job.status === 'completed') {
    return { kind: 'ended', manifest: await manifestOf(services, job), expiresAtMs: job.ttl * 1000 };
  }
  if (isOverdue(job, services.now())) throw new Refusal('unprocessable', 'The export was given up');
  const progress = job.status === 'accepted' ? 'accepted' : `${job.lines} resources in ${job.files} files`;
  return { kind: 'under-way', progress, ageMs: services.now() - job.createdAtMs };
}

/**
 * A file of an export that has ended, gzipped and as it is; each time it is fetched is in the audit log.
 * @throws {Refusal} not-found; forbidden for who may not have its type any more
 */
export async function fetchExport(
  services: Services,
  caller: Caller,
  { id, file: name }: { id: string; file: string },
): Promise<{ file: ExportFile; gzipped: Buffer; text: Buffer }> {
  const key = keys.exportFile(caller.project, isId(id) ? id : 'none', name.length <= longestName ? name : '');
  const { actor, job, found } = await requireExport(services, caller, id, [key]);
  const file = exportFileOf(found.get(key));
  if (!file || job.status !== 'completed') throw notFound();
  if (!mayFetch(actor, job, file)) throw new Refusal('forbidden', 'Forbidden');
  const gzipped = await readFile(services.table, job, file);
  await record(services, {
    ...{ project: job.project, subtype: 'fetch-export', action: 'R', outcome: '0' },
    agent: agentOf(actor),
    entities: [exportEntity(job, { file: file.name, lines: file.count })],
  });
  const text = await textOfFile(gzipped);
  if (services.disclosure && holdsRecords(file)) noteLines(services.disclosure, text);
  return { file, gzipped, text };
}

/** Rights may have ended since it was asked for. */
function mayFetch(actor: Actor, { types }: ExportJob, { kind }: ExportFile): boolean {
  if (isRoot(actor)) return true;
  if (kind === deletedFile || kind === errorFile) return types.every((type) => mayExport(actor, type));
  const type = typeOf(kind);
  // Earlier versions, code and people are asked for by administrators alone.
  if (type !== kind || !types.includes(kind)) {
    return mayAdminister(actor) && (!types.includes(type) || mayExport(actor, type, true));
  }
  return mayExport(actor, type);
}

function holdsRecords({ kind }: ExportFile): boolean {
  return kind !== deletedFile && kind !== errorFile && isResourceType(typeOf(kind));
}

/** Every record of the file has been shown, and whose it is. */
function noteLines(disclosure: Disclosure, text: Buffer): void {
  for (const line of text.toString('utf8').trimEnd().split('\n')) {
    const fields = fieldsOf(JSON.parse(line));
    if (fields.resourceType === 'User') {
      noteNamed(disclosure, `User/${fields.id}`);
      continue;
    }
    const resource = readResource(fields);
    noteWhole(disclosure, resource);
    noteShown(disclosure, resource);
  }
}

/** Longer than every name of a file. */
const longestName = 100;

/**
 * Ends an export that goes on, and has the files of one that has ended removed: from now on it is not found.
 * @throws {Refusal} not-found; forbidden for an administrator under a policy, of what others asked for
 */
export async function cancelExport(
  services: Services,
  caller: Caller,
  { id }: { id: string },
): Promise<void> {
  const { actor, job } = await requireExport(services, caller, id);
  requireOwn(actor, job.asker.membershipId);
  const event = { subtype: 'cancel-export', action: 'D', entities: [exportEntity(job)] } as const;
  const cancelled = services.table.transact([
    {
      name: 'export',
      update: keys.export(job.project, job.id),
      // The stream wakes who removes the files.
      set: 'SET #status = :cancelled, untidy = :true, endedAtMs = :now',
      if: 'attribute_exists(pk) AND #status <> :cancelled',
      names: { '#status': 'status' },
      values: { ':cancelled': 'cancelled', ':true': true, ':now': services.now() },
    },
    auditAction(services, actor, event),
  ]);
  await cancelled.catch(orThrow(notFound));
}

async function requireExport(
  services: Services,
  caller: Caller,
  id: string,
  more: readonly Key[] = [],
): Promise<{ actor: Actor; job: ExportJob; found: Found }> {
  const key = keys.export(caller.project, isId(id) ? id : 'none');
  const { actor, found } = await admit(services, caller, [key, ...more]);
  const job = exportOf(found.get(key));
  const mayRead = job && (job.asker.membershipId === actor.membershipId || mayAdminister(actor));
  if (!mayRead || job.status === 'cancelled') throw notFound();
  return { actor, job, found };
}

function notFound(): Refusal {
  return new Refusal('not-found', 'Not found');
}

async function manifestOf({ table, baseUrl }: Services, job: ExportJob): Promise<object> {
  const files: ExportFile[] = [];
  for await (const some of listFiles(table, job)) files.push(...some);
  files.sort((a, b) => (a.kind === b.kind ? a.nth - b.nth : a.kind < b.kind ? -1 : 1));
  const url = `${baseUrl}/fhir/R4/bulkdata/export/${job.id}`;
  const outputs = (isWanted: (kind: string) => boolean) =>
    files
      .filter(({ kind }) => isWanted(kind))
      .map(({ kind, name, count }) => ({ type: typeOf(kind), url: `${url}/${name}`, count }));
  return {
    transactionTime: job.until,
    request: job.request,
    requiresAccessToken: true,
    output: outputs((kind) => kind !== deletedFile && kind !== errorFile),
    deleted: outputs((kind) => kind === deletedFile),
    error: outputs((kind) => kind === errorFile),
  };
}

function typeOf(kind: string): string {
  return kind === deletedFile ? 'Bundle' : kind.replace(/\.history$/, '');
}

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
