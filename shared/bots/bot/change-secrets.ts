import { array, finite, maxLength, number, pipe, regex, safeInteger, string } from 'valibot';
import { invalidField, Refusal, type RefusalIssue } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { check, fields, flag, optionalField } from '../../base/schema.ts';
import { typedKeys } from '../../base/values.ts';
import type { DataKeys } from '../../carry/keys/data-keys.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { auditAction, projectOf, targetOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { provided } from '../../identity/policies/bounds.ts';
import { requireOwnBot } from '../../records/subscriptions/own-bot.ts';
import type { BotSecret } from '../run/contract.ts';
import type { StoredBot } from './bot.ts';
import { type SealedSecret, type SecretHolder, sealedSecrets, sealSecrets, secretsKey } from './secrets.ts';
import { botKeyOf, requireBot } from './versions.ts';

const mostSecrets = 100;
const longestValue = 8192;
/** All of a holder's fit one item, sealed. */
const mostBytes = 256 * 1024;

const nameText = 'A name is up to 100 letters, digits, _, - and ., and begins with a letter or digit';
const wrong = (name: string) => `${name} is not valid, or longer than ${longestValue}`;

/** The value of a secret, by what kind of value it is. */
const values = {
  valueString: optionalField(
    pipe(string(wrong('valueString')), maxLength(longestValue, wrong('valueString'))),
  ),
  valueBoolean: optionalField(flag('valueBoolean')),
  valueInteger: optionalField(pipe(number(wrong('valueInteger')), safeInteger(wrong('valueInteger')))),
  valueDecimal: optionalField(pipe(number(wrong('valueDecimal')), finite(wrong('valueDecimal')))),
} satisfies Record<Exclude<keyof BotSecret, 'name'>, unknown>;

const listText = 'The body must be an array of {name, valueString} and the like';

export const secretsBody = pipe(
  array(
    fields(
      { name: pipe(string(nameText), regex(/^[A-Za-z0-9][\w.-]{0,99}$/, nameText)), ...values },
      nameText,
    ),
    listText,
  ),
  maxLength(mostSecrets, `There are at most ${mostSecrets} secrets`),
);

/** Of each secret its new value; one without a value is kept as it is. */
type NamedSecret = Pick<BotSecret, 'name'> & { secret: BotSecret | undefined };

/** The whole list of a holder's secrets, as clients of this field send it. @throws {Refusal} invalid */
function parseSecrets(body: unknown): NamedSecret[] {
  const { output = [], issues = [] } = check(secretsBody, body);
  const kinds = output.map((sent) => typedKeys(values).filter((kind) => sent[kind] !== undefined));
  const names = output.map(({ name }) => name);
  const all: RefusalIssue[] = [
    ...issues,
    ...names.flatMap((name, i) =>
      names.indexOf(name) < i ? [{ expression: `[${i}].name`, text: `${name} is there twice` }] : [],
    ),
    ...kinds.flatMap((of, i) =>
      of.length > 1 ? [{ expression: `[${i}].value`, text: 'A secret has one value' }] : [],
    ),
  ];
  if (all.length > 0) throw new Refusal('invalid', 'The secrets are not valid', { issues: all });
  const secrets = output.map(({ name, ...sent }, i): NamedSecret => {
    const [kind] = kinds[i] ?? [];
    return { name, secret: kind && { name, [kind]: sent[kind] } };
  });
  if (Buffer.byteLength(JSON.stringify(secrets)) > mostBytes)
    throw new Refusal('too-large', `All secrets together are at most ${mostBytes / 1024} KB`);
  return secrets;
}

function keysOfHolder(holder: SecretHolder): Key[] {
  const { project, botId } = holder;
  return [secretsKey(holder), ...(botId === undefined ? [] : [botKeyOf(project, botId)])];
}

function requireHolder({ project, botId }: SecretHolder, found: Found): StoredBot | undefined {
  return botId === undefined ? undefined : requireBot(found.get(botKeyOf(project, botId)));
}

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
    // A Project's are for administrators whom no policy narrows: the row of the route.
    const bounds = bot ? await requireOwnBot(services, { caller, actor }, bot) : [];
    const wanted = parseSecrets(body);
    const seen = found.get(secretsKey(holder));
    const secrets = await withKept(services, holder, wanted, sealedSecrets(seen));
    const actions = actionsFor(services, actor, holder, { bot: bot?.resource, seen, secrets });
    await services.table.transact(provided(actions, bounds));
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
  services: Services,
  actor: Actor,
  holder: SecretHolder,
  { bot, seen, secrets }: { bot: Resource | undefined; seen: Item | undefined; secrets: SealedSecret[] },
): Action[] {
  const { project, botId } = holder;
  const entities = [bot ? targetOf(bot) : projectOf(actor)];
  return [
    {
      name: 'secrets',
      put: { ...secretsKey(holder), secrets, versionId: services.newId() },
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
    auditAction(services, actor, { subtype: 'change-secrets', action: 'U', entities }),
  ];
}

/** The names of a Project's or a Bot's secrets; no value ever leaves. @throws {Refusal} not-found */
export async function listSecrets(
  services: Services,
  caller: Caller<'administrator'>,
  { botId }: { botId?: string },
): Promise<{ name: string }[]> {
  const holder = { project: caller.project, ...(botId === undefined ? {} : { botId }) };
  const { found } = await admit(services, caller, keysOfHolder(holder));
  requireHolder(holder, found);
  return sealedSecrets(found.get(secretsKey(holder))).map(({ name }) => ({ name }));
}
