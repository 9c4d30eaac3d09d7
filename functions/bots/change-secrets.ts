import type { Caller } from '../../shared/access/access-token.ts';
import type { Actor } from '../../shared/access/actor.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, projectOf, targetOf } from '../../shared/audit/who.ts';
import {
  type SealedSecret,
  type SecretHolder,
  sealedSecrets,
  sealSecrets,
  secretsKey,
} from '../../shared/bot/secrets.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import type { DataKeys } from '../../shared/keys/data-keys.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { type NamedSecret, parseSecrets } from './parse-secrets.ts';
import { keysOfHolder, requireHolder } from './secret-holder.ts';

export interface SecretServices extends Services {
  dataKeys(): Promise<DataKeys>;
}

/**
 * Replaces the secrets of a Project or of one Bot. An entry that has a name only keeps its value, which
 * nobody can read back. Answers the names.
 * @param body the whole list: `{name, valueString | valueBoolean | valueInteger | valueDecimal}[]`
 * @throws {Refusal} not-found, invalid, too-large
 */
export async function changeSecrets(
  services: SecretServices,
  caller: Caller<'administrator'>,
  { botId, body }: { botId?: string; body: unknown },
): Promise<{ name: string }[]> {
  const holder = { project: caller.project, ...(botId === undefined ? {} : { botId }) };
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, keysOfHolder(holder));
    const bot = requireHolder(holder, found);
    const wanted = parseSecrets(body);
    const seen = found.get(secretsKey(holder));
    const secrets = await withKept(services, holder, wanted, sealedSecrets(seen));
    await services.table.transact(actionsFor(services, actor, holder, { bot, seen, secrets }));
    return secrets.map(({ name }) => ({ name }));
  });
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
  return wanted.flatMap(({ name }) => sealed.get(name) ?? []);
}

function actionsFor(
  { newId, now }: Services,
  actor: Actor,
  holder: SecretHolder,
  { bot, seen, secrets }: { bot: Resource | undefined; seen: Item | undefined; secrets: SealedSecret[] },
): Action[] {
  const { project, botId } = holder;
  const audited: Audited = {
    project,
    subtype: 'change-secrets',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [bot ? targetOf(bot) : projectOf(actor)],
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
