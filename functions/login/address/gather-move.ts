import type { Resource } from '../../../shared/fhir/resource.ts';
import { emailLogin, externalLogin, personOf } from '../../../shared/invitation/person.ts';
import { type Standing, standingOf } from '../../../shared/invitation/state.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import type { Item } from '../../../shared/table/item.ts';
import { type Key, keys } from '../../../shared/table/keys.ts';

/** Everything that names a person by their address. */
export interface AddressMove {
  user: Resource;
  /** How often the User was invited when this was gathered: once more, and it is not all. */
  joins: unknown;
  email: string;
  projects: readonly ProjectMove[];
}

/** Of one Project: what it knows the person by, and their memberships. */
export interface ProjectMove {
  project: string;
  /** The item under the old address: the person, or a second name that leads to them. */
  known: Item | undefined;
  /** What stands under the new address: left over from somebody who is no member any more, or nothing. */
  replaced: Item | undefined;
  /** The external id as second name, which leads to the old address. */
  alias: Item | undefined;
  standings: readonly Standing[];
}

/** @throws {Refusal} conflict when a Project knows somebody else by the new address */
export async function gatherMove(
  services: Services,
  { user, joins }: Pick<AddressMove, 'user' | 'joins'>,
  email: string,
): Promise<AddressMove> {
  const mirrors = await membershipsOf(services, user.id);
  const byProject = [...Map.groupBy(mirrors, ({ project }) => String(project))];
  const projects = await Promise.all(
    byProject.map(([project, of]) => gatherProject(services, { project, of, user, email })),
  );
  return { user, joins, email, projects };
}

async function gatherProject(
  { table }: Services,
  { project, of, user, email }: { project: string; of: readonly Item[]; user: Resource; email: string },
): Promise<ProjectMove> {
  const oldKey = keys.person(project, emailLogin(String(user.email)));
  const newKey = keys.person(project, emailLogin(email));
  const memberships = of.map(({ membershipId }) =>
    keys.resource(project, 'ProjectMembership', String(membershipId)),
  );
  const found = await table.read([oldKey, newKey, ...memberships]);
  const standings = memberships.flatMap((key) => standingOf(found.get(key)) ?? []);
  const externalId = standings.find(({ membership }) => membership.externalId)?.membership.externalId;
  const aliasKey = externalId === undefined ? undefined : keys.person(project, externalLogin(externalId));
  const alias = aliasKey && (await table.read([aliasKey])).get(aliasKey);
  const replaced = found.get(newKey);
  if (replaced && replaced.userId !== user.id && !isLeftOver(replaced))
    throw new Refusal('conflict', 'This address belongs to another user');
  return {
    project,
    known: found.get(oldKey),
    replaced,
    alias: alias?.primary === emailLogin(String(user.email)) ? alias : undefined,
    standings,
  };
}

/** A User above Projects who was removed and has left the address since. */
function isLeftOver(item: Item): boolean {
  const person = personOf(item);
  return person?.scope === 'server' && Object.keys(person.memberships).length === 0;
}

async function membershipsOf({ table }: Services, userId: string): Promise<Item[]> {
  const { pk, sk } = keys.userMembership(userId, '', '');
  const found: Item[] = [];
  for (let from: Key | undefined; ; ) {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': sk.slice(0, 2) },
      ConsistentRead: true,
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    found.push(...page.items);
    from = page.next;
    if (!from) return found;
  }
}
