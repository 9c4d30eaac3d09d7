import { deflateRawSync } from 'node:zlib';
import { auditItem } from '../../shared/audit/audit-event.ts';
import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { botOf, codeItem, longestCodeBytes } from '../../shared/bot/bot-item.ts';
import type { BotCode, RunRequest } from '../../shared/bot/contract.ts';
import type { InvokerServices } from '../../shared/bot/execute-services.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { compileRefusal, transpile } from './transpile.ts';

const checkMs = 5_000;

/**
 * Deploys code: checks in the sandbox that it compiles and exports a handler, stores an immutable
 * version named by its hash, then moves the Bot's pointer in one write.
 * @throws {Refusal} forbidden, not-found, invalid with line and column, too-large
 */
export async function deployBot(
  services: InvokerServices,
  caller: Caller,
  { botId, body, traceId }: { botId: string; body: unknown; traceId: string },
): Promise<void> {
  if (!isId(botId)) throw new Refusal('not-found', 'Not found');
  const { project } = caller;
  const botKey = keys.resource(project, 'Bot', botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  if (!actor.admin) throw new Refusal('forbidden', 'Forbidden');
  const bot = botOf(found.get(botKey));
  if (!bot) throw new Refusal('not-found', 'Not found');

  const { source, filename } = parseDeploy(body);
  const code = transpile(source, filename);
  requireSize(code);
  await requireRunnable(services, project, botId, code, traceId);

  await services.table.put(codeItem(project, botId, code));
  const audited = {
    project,
    subtype: 'deploy',
    action: 'U' as const,
    outcome: '0' as const,
    agent: { reference: actor.profile },
    entities: [{ reference: `Bot/${botId}`, detail: [{ type: 'version', valueString: code.version }] }],
  };
  try {
    await services.table.transact([
      {
        name: 'bot',
        update: botKey,
        set: 'SET codeVersion = :version',
        if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
        values: { ':version': code.version },
      },
      { name: 'audit', put: auditItem(audited, services.newId(), services.now()) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('not-found', 'Not found', { reason: 'deleted meanwhile' });
  }
}

function parseDeploy(body: unknown): { source: string; filename: string } {
  const { code, filename } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (typeof code !== 'string' || code.trim() === '')
    throw invalidField('code', 'code must be the text of the Bot');
  if (filename == null) return { source: code, filename: 'index.js' };
  if (typeof filename !== 'string' || !/^[\w.-]{1,100}\.[cm]?[jt]s$/.test(filename)) {
    throw invalidField(
      'filename',
      'filename must be a plain name ending in .js, .mjs, .cjs, .ts, .mts or .cts',
    );
  }
  return { source: code, filename };
}

function requireSize({ text }: BotCode): void {
  if (deflateRawSync(text).length <= longestCodeBytes) return;
  throw new Refusal('too-large', `The code is longer than ${longestCodeBytes / 1024} KB compressed`);
}

/** The sandbox compiles and evaluates it as it will at every run. */
async function requireRunnable(
  services: InvokerServices,
  project: string,
  botId: string,
  code: BotCode,
  traceId: string,
): Promise<void> {
  const request: RunRequest = {
    kind: 'check',
    runId: services.newId(),
    project,
    code,
    input: { kind: 'none' },
    event: {
      bot: { reference: `Bot/${botId}` },
      requester: { reference: 'system' },
      headers: {},
      secrets: {},
      traceId,
    },
    limits: { timeoutMs: checkMs, memoryMb: 128, resultBytes: 1024, logBytes: 1024 },
    deadlineAtMs: services.now() + checkMs * 2,
  };
  const invoked = await services.invoker.invoke(request);
  if (invoked.kind !== 'result') {
    throw new Refusal('unavailable', 'The code could not be checked', {
      reason: invoked.kind,
      retryAfterSeconds: 1,
    });
  }
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned') return;
  if (outcome.kind === 'not-compiled') throw compileRefusal(outcome.message, outcome.line, outcome.column);
  throw invalidField('code', outcome.message);
}
