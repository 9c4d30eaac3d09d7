import { botOf } from '../../../shared/bot/bot-item.ts';
import { identifiersOf } from '../../../shared/bot/identifiers.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { inlineResource, isStanding } from '../../../shared/store/inline.ts';
import { deliveryOf, laneKey } from '../../../shared/subscription/delivery.ts';
import { dueKey, keys } from '../../../shared/table/keys.ts';
import { resourceOf } from '../look.ts';
import { needs, type Rule, when } from '../rule.ts';

/** A Bot has its code, its membership, and each of its identifiers alone. */
export const botIsWhole: Rule = async (item, { project = '', id = '' }, look) => {
  const bot = botOf(item);
  if (!bot) return [];
  const { codeVersion, membershipId, resource } = bot;
  const locks = identifiersOf(resource).map(({ system, value }) =>
    keys.botIdentifier(project, system ?? '', value),
  );
  const owners = await Promise.all(locks.map(async (key) => (await look.get(key))?.botId));
  const membership = await look.get(keys.resource(project, 'ProjectMembership', membershipId));
  return [
    ...(codeVersion === undefined
      ? []
      : await needs(look, keys.botCode(project, id, codeVersion), `code of its version ${codeVersion}`)),
    ...when(!isStanding(membership), `its membership ${membershipId} does not exist`),
    ...when(
      owners.some((owner) => owner !== id),
      'one of its identifiers does not lead to it',
    ),
  ];
};

/** An identifier leads to the Bot that has it. */
export const identifierLeads: Rule = async (item, { project = '' }, look) => {
  const id = String(item.botId);
  const bot = inlineResource('Bot', await look.get(keys.resource(project, 'Bot', id)));
  if (!bot) return [{ text: `Bot/${id} does not exist` }];
  const has = identifiersOf(bot).some(
    ({ system, value }) => keys.botIdentifier(project, system ?? '', value).pk === item.pk,
  );
  return when(!has, `Bot/${id} has no such identifier`);
};

/** A version of a Bot has its code. */
export const versionHasCode: Rule = async (_item, { project = '', id = '', version = '' }, look) =>
  needs(look, keys.botCode(project, id, version), `code of the version ${version}`);

/** What goes with a Bot or Subscription goes with it. */
export const ownerStands: Rule = async (_, { project = '', type = '', id = '' }, look) =>
  when(!isStanding(await look.get(keys.resource(project, type, id))), `${type}/${id} does not exist`);

/** When a Bot is due, a tick finds it. */
export const scheduleIsDue: Rule = async ({ dueAt }, { project = '', id = '' }, look) =>
  needs(look, dueKey(project, id, String(dueAt)), `tick that is to run it at ${dueAt}`);

/** A Subscription is listed under the type that it waits for. */
export const subscriptionIsListed: Rule = async (item, { project = '', id = '' }, look) => {
  const resource = isStanding(item) && (await resourceOf(look.table, project, item).catch(() => undefined));
  if (!resource) return [];
  const listed = await look.get(keys.subscription(project, id));
  const type = String(fieldsOf(resource).criteria).split('?')[0];
  return when(listed?.type !== type, `it is not listed among those that wait for ${type}`);
};

/** A delivery that has not ended stands in its lane, and what stands in a lane has not ended. */
export const deliveryWaits: Rule = async (item, { project = '' }, look) => {
  const delivery = deliveryOf(item);
  const { ended, deliveryId } = delivery;
  if (ended !== undefined) return [];
  const entry = await look.get(laneKey({ ...delivery, project }));
  return when(entry?.deliveryId !== deliveryId, 'it has not ended, and does not stand in its lane');
};

export const laneLeads: Rule = async (item, { project = '' }, look) => {
  const delivery = await look.get(keys.delivery(project, String(item.deliveryId)));
  return when(delivery === undefined || delivery.ended !== undefined, 'its delivery has ended, or is none');
};
