import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { Actor } from '../../shared/auth/actor.ts';
import { admit } from '../../shared/auth/actor.ts';
import type { DataKeys } from '../../shared/auth/data-keys.ts';
import type { Caller } from '../../shared/auth/token.ts';
import {
  type SealedSecret,
  type SecretHolder,
  sealedSecrets,
  sealSecrets,
  secretsKey,
} from '../../shared/bot/secrets.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { pauseMs } from '../../shared/table/pause.ts';
import type { Item } from '../../shared/table/table.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';
import { type NamedSecret, parseSecrets } from './parse-secrets.ts';
import { keysOfHolder, requireHolder } from './secret-holder.ts';

export interface SecretServices extends Services {
  dataKeys(): Promise<DataKeys>;
}

const attempts = 5;

/**
 * Replaces the secrets of a Project or of one Bot. An entry that has a name only keeps its value, which
 * nobody can read back. Answers the names.
 * @param body the whole list: `{name, valueString | valueBoolean | valueInteger | valueDecimal}[]`
 * @throws {Refusal} forbidden, not-found, invalid, too-large
 */
export async function changeSecrets(
  services: SecretServices,
  caller: Caller,
  { projectId, botId, body }: { projectId: string; botId?: string; body: unknown },
): Promise<{ name: string }[]> {
  const holder = { project: caller.project, ...(botId === undefined ? {} : { botId }) };
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1) await pauseMs(attempt);
    const { actor, found } = await admit(services, caller, keysOfHolder(holder));
    requireHolder(actor, projectId, holder, found);
    const wanted = parseSecrets(body);
    const seen = found.get(secretsKey(holder));
    const secrets = await withKept(services, holder, wanted, sealedSecrets(seen));
    try {
      await services.table.transact(actionsFor(services, actor, holder, { seen, secrets }));
      return secrets.map(({ name }) => ({ name }));
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
  throw new Refusal('unavailable', 'Others keep changing the same secrets', { retryAfterSeconds: 1 });
}

async function withKept(
  { dataKeys }: SecretServices,
  holder: SecretHolder,
  wanted: readonly NamedSecret[],
  before: readonly SealedSecret[],
): Promise<SealedSecret[]> {
  const kept = new Map(before.map((secret) => [secret.name, secret]));
  for (const [i, { name, secret }] of wanted.entries()) {
    if (!secret && !kept.has(name)) throw invalidField(`[${i}].name`, `${name} has no value`);
  }
  const values = wanted.flatMap(({ secret }) => secret ?? []);
  const fresh = values.length > 0 ? await sealSecrets(await dataKeys(), holder, values) : [];
  const sealed = new Map([...kept, ...fresh.map((secret) => [secret.name, secret] as const)]);
  return wanted.map(({ name }) => sealed.get(name) as SealedSecret);
}

function actionsFor(
  { newId, now }: Services,
  actor: Actor,
  holder: SecretHolder,
  { seen, secrets }: { seen: Item | undefined; secrets: SealedSecret[] },
): Action[] {
  const { project, botId } = holder;
  const reference = botId === undefined ? `Project/${project}` : `Bot/${botId}`;
  const audited: Audited = {
    project,
    subtype: 'change-secrets',
    action: 'U',
    outcome: '0',
    agent: { reference: actor.profile },
    entities: [{ reference }],
  };
  return [
    {
      name: 'secrets',
      put: { ...secretsKey(holder), secrets, versionId: newId() },
      ...(seen
        ? { if: 'versionId = :seen', values: { ':seen': seen.versionId } }
        : { if: 'attribute_not_exists(pk)' }),
    },
    ...(botId === undefined
      ? []
      : [
          {
            name: 'bot',
            check: keys.resource(project, 'Bot', botId),
            if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
          },
        ]),
    { name: 'audit', put: auditItem(audited, newId(), now()) },
  ];
}
