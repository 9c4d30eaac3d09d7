import { object, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import { errorName } from '../../base/values.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { allows } from '../../identity/policies/access.ts';
import { lacks } from '../../identity/projects/settings.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { botOf, codeOf, type DeployedCode, type StoredBot } from '../bot/bot.ts';
import { openSecrets, type SecretHolder, sealedSecrets, secretsKey } from '../bot/secrets.ts';
import { isPaused, type RunSettings, runSettings } from './bounds.ts';
import type { BotSecret } from './contract.ts';
import type { ExecuteServices } from './services.ts';

/**
 * The secrets that a run is given, by name: the Project's, unless a policy narrowed who deployed the code, and over them
 * the Bot's own.
 * @param found holds the items of both, as far as there are any
 * @throws {Refusal} unavailable when the key service does not answer: nothing has run
 */
async function gatherSecrets(
  { dataKeys, botMemory, log }: ExecuteServices,
  project: string,
  { resource: { id: botId }, isNarrowed }: StoredBot,
  found: Found,
): Promise<Record<string, BotSecret>> {
  const holders: SecretHolder[] = [...(isNarrowed ? [] : [{ project }]), { project, botId }];
  try {
    const opened = await Promise.all(
      holders.map((holder) =>
        openSecrets(dataKeys, botMemory.dataKeys, holder, sealedSecrets(found.get(secretsKey(holder)))),
      ),
    );
    return Object.fromEntries(opened.flat().map((secret) => [secret.name, secret]));
  } catch (error) {
    log.error('secrets not opened', { error: errorName(error), bot: `Bot/${botId}` });
    throw new Refusal('unavailable', 'The secrets of the Bot cannot be read now; it was not run', {
      retryAfterSeconds: 1,
    });
  }
}

/** Which Bot is meant. */
export type BotTarget = { id: string } | { system: string; value: string };

/** All that a run depends on. */
export interface GatheredRun {
  actor: Actor;
  bot: StoredBot;
  code: DeployedCode;
  secrets: Record<string, BotSecret>;
  settings: RunSettings;
  /** What made it run, where that is no call: for its record. */
  cause?: Readonly<Record<string, string>>;
}

/**
 * One batch read when this process has served this caller and Bot before: what the token does not
 * name is remembered, and verified against what is read. A stale memory costs one more read.
 * @param asItself the Bot asks for its own run, which a schedule began
 * @throws {Refusal} not-found, forbidden, or invalid when the Bot cannot run
 */
export async function gatherRun(
  services: ExecuteServices,
  caller: Caller,
  target: BotTarget,
  { asItself = false } = {},
): Promise<GatheredRun> {
  const { project } = caller;
  const projectKey = keys.resource(project, 'Project', project);
  const identifierKey = 'id' in target ? undefined : keys.botIdentifier(project, target.system, target.value);
  const guess = 'id' in target ? target.id : services.botMemory.ids.get(identifierKey?.pk ?? '');
  const { actor, found } = await admit(services, caller, [
    projectKey,
    secretsKey({ project }),
    ...(identifierKey ? [identifierKey] : []),
    ...(guess && isId(guess) ? botKeys(services, project, guess) : []),
  ]);

  const botId = identifierKey ? readIdentifier(found.get(identifierKey))?.botId : guess;
  if (botId === undefined || !isId(botId)) throw notFound();
  if (identifierKey) services.botMemory.ids.set(identifierKey.pk, botId);
  const { bot, membership, all } = await readBot(services, project, botId, { found, guess });
  const isItself = asItself && actor.membershipId === bot.membershipId;
  if (!isItself && !(await allows(actor, 'execute', bot.resource)))
    throw new Refusal('forbidden', 'Forbidden');

  const features = inlineResource('Project', found.get(projectKey))?.features;
  if (Array.isArray(features) && !features.includes('bots')) throw notEnabled();
  if (lacks(found.get(projectKey), 'bots')) throw notEnabled();
  if (isPaused(found.get(projectKey))) throw new Refusal('invalid', 'Bots of this project are stopped');
  if (membership?.active !== true) throw notEnabled();
  const [code, secrets] = await Promise.all([
    readCode(services, project, bot),
    gatherSecrets(services, project, bot, all),
  ]);
  return { actor, bot, code, secrets, settings: runSettings(found.get(projectKey)) };
}

const readIdentifier = stored('identifier of a Bot', object({ botId: string() }));

function botKeys(services: ExecuteServices, project: string, botId: string): Key[] {
  const botKey = keys.resource(project, 'Bot', botId);
  const membershipId = services.botMemory.memberships.get(botKey.pk);
  return [
    botKey,
    secretsKey({ project, botId }),
    ...(membershipId ? [keys.resource(project, 'ProjectMembership', membershipId)] : []),
  ];
}

async function readBot(
  services: ExecuteServices,
  project: string,
  botId: string,
  { found, guess }: { found: Found; guess: string | undefined },
): Promise<{ bot: StoredBot; membership: ProjectMembership | undefined; all: Found }> {
  const botKey = keys.resource(project, 'Bot', botId);
  const all =
    botId === guess ? found : found.with(await services.table.read(botKeys(services, project, botId)));
  const bot = botOf(all.get(botKey));
  if (!bot) throw notFound();
  services.botMemory.memberships.set(botKey.pk, bot.membershipId);
  const membershipKey = keys.resource(project, 'ProjectMembership', bot.membershipId);
  const item = all.get(membershipKey) ?? (await services.table.read([membershipKey])).get(membershipKey);
  return { bot, membership: inlineResource('ProjectMembership', item), all };
}

/** Versions are immutable and named by their hash, so what is remembered is what was deployed. */
async function readCode(
  services: ExecuteServices,
  project: string,
  { resource, codeVersion }: StoredBot,
): Promise<DeployedCode> {
  if (codeVersion === undefined) throw new Refusal('invalid', 'Bot has no deployed code');
  const key = keys.botCode(project, resource.id, codeVersion);
  const name = `${key.pk}\n${key.sk}`;
  const remembered = services.botMemory.code.get(name);
  if (remembered) return remembered;
  const item = (await services.table.read([key])).get(key);
  if (!item) throw new Error('The deployed code of a Bot is missing');
  const code = codeOf(item);
  services.botMemory.code.set(name, code);
  return code;
}

function notFound(): Refusal {
  return new Refusal('not-found', 'Not found');
}

function notEnabled(): Refusal {
  return new Refusal('invalid', 'Bots not enabled');
}
