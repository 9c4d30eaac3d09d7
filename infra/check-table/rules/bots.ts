import { fieldsOf } from '../../../shared/base/values.ts';
import { botOf } from '../../../shared/bots/bot/bot.ts';
import { identifiersOf } from '../../../shared/bots/bot/identifiers.ts';
import { stageKeyOf } from '../../../shared/carry/keys/stage-key.ts';
import { dueKey, keys } from '../../../shared/carry/table/keys.ts';
import { keyVersionOf } from '../../../shared/identity/sign-in/second-factor.ts';
import { deliveryOf, laneKey } from '../../../shared/records/subscriptions/delivery.ts';
import { inlineResource, isStanding } from '../../../shared/store/items/content.ts';
import { needs, ownerIn, resourceOf, type TableRule, when } from '../rule.ts';

/** A Bot has its code, its membership, and each of its identifiers alone. */
export const botIsWhole: TableRule = async (item, [project = '', , id = ''], look) => {
  const bot = botOf(item);
  if (!bot) return [];
  const { codeVersion, membershipId, resource } = bot;
  const locks = identifiersOf(resource).map(({ system, value }) =>
    keys.botIdentifier(project, system ?? '', value),
  );
  const owners = await Promise.all(locks.map(async (key) => (await look.get(key))?.botId));
  const membership = await look.get(keys.resource(project, 'ProjectMembership', membershipId));
  const isOther = owners.some((owner) => owner !== id);
  return [
    ...(codeVersion === undefined
      ? []
      : await needs(look, keys.botCode(project, id, codeVersion), `code of its version ${codeVersion}`)),
    ...when(!isStanding(membership), `its membership ${membershipId} does not exist`),
    ...when(isOther, 'one of its identifiers does not lead to it'),
  ];
};

/** An identifier leads to the Bot that has it. */
export const identifierLeads: TableRule = async (item, [project = ''], look) => {
  const id = String(item.botId);
  const bot = inlineResource('Bot', await look.get(keys.resource(project, 'Bot', id)));
  if (!bot) return [{ text: `Bot/${id} does not exist` }];
  const has = identifiersOf(bot).some(
    ({ system, value }) => keys.botIdentifier(project, system ?? '', value).pk === item.pk,
  );
  return when(!has, `Bot/${id} has no such identifier`);
};

/** A version of a Bot has its code. */
export const versionHasCode: TableRule = async ({ sk }, [project = '', id = ''], look) => {
  const version = sk.slice(sk.lastIndexOf('#') + 1);
  return needs(look, keys.botCode(project, id, version), `code of the version ${version}`);
};

/** What goes with a Bot or Subscription goes with it. */
export const ownerStands: TableRule = async (item, _, look) => {
  const { project, type, id } = ownerIn(item);
  return when(!isStanding(await look.get(keys.resource(project, type, id))), `${type}/${id} does not exist`);
};

/** What lists something by its id goes with it. */
export function listedStands(type: string): TableRule {
  return async (item, [project = '', id = ''], look) =>
    ownerStands({ ...item, ...keys.resource(project, type, id) }, [], look);
}

/** When a Bot is due, a tick finds it. */
export const scheduleIsDue: TableRule = async ({ dueAt }, [project = '', id = ''], look) =>
  needs(look, dueKey(project, id, String(dueAt)), `tick that is to run it at ${dueAt}`);

/** A Subscription is listed under the type that it waits for. */
export const subscriptionIsListed: TableRule = async (item, [project = '', , id = ''], look) => {
  const resource = isStanding(item) && (await resourceOf(look.table, item).catch(() => undefined));
  if (!resource) return [];
  const listed = await look.get(keys.subscription(project, id));
  const type = String(fieldsOf(resource).criteria).split('?')[0];
  return when(listed?.type !== type, `it is not listed among those that wait for ${type}`);
};

/** A delivery that has not ended stands in its lane, and what stands in a lane has not ended. */
export const deliveryWaits: TableRule = async (item, [project = ''], look) => {
  const delivery = deliveryOf(item);
  const { ended, deliveryId } = delivery;
  if (ended !== undefined) return [];
  const entry = await look.get(laneKey({ ...delivery, project }));
  return when(entry?.deliveryId !== deliveryId, 'it has not ended, and does not stand in its lane');
};

export const laneLeads: TableRule = async (item, [project = ''], look) => {
  const delivery = await look.get(keys.delivery(project, String(item.deliveryId)));
  return when(delivery === undefined || delivery.ended !== undefined, 'its delivery has ended, or is none');
};

/** What makes new things is there, and every version once. */
export const keyIsWhole: TableRule = async (item) => {
  const key = stageKeyOf(item);
  const numbers = key?.versions.map(({ version }) => version) ?? [];
  return [
    ...when(!numbers.includes(key?.current ?? 0), 'its current version is not there'),
    ...when(new Set(numbers).size < numbers.length, 'a version is there twice'),
  ];
};

/** The version of the key that a second factor derives from was not forgotten. */
export const factorHasKey: TableRule = async ({ seed }, _, look) => {
  const key = stageKeyOf(await look.get(keys.stageKey('totp')));
  if (!key || typeof seed !== 'string') return [];
  const version = keyVersionOf(seed);
  const isKnown = key.versions.some((one) => one.version === version);
  return when(!isKnown, `version ${version} of the key for second factors is not there`);
};
