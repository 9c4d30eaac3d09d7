import { string } from 'valibot';
import { mayInteract } from '../../../shared/access/access.ts';
import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { eyesOf } from '../../../shared/access/member-eyes.ts';
import { visible } from '../../../shared/access/visible.ts';
import { record } from '../../../shared/audit/record.ts';
import { agentOf, targetOf } from '../../../shared/audit/who.ts';
import { noteShown } from '../../../shared/disclosure.ts';
import { isId, parseReference, type Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields, optional } from '../../../shared/schema/fields.ts';
import type { Services } from '../../../shared/services.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { standingState } from '../../../shared/store/versions.ts';
import { keys } from '../../../shared/table/keys.ts';
import { explainSearch } from './explain-search.ts';
import { type Explanation, parametersOf, seenAs, type View } from './explanation.ts';

/** What is looked at: one of the two. */
export const explainBody = fields({
  resource: optional(string('resource must be a reference, as Patient/<id>')),
  search: optional(string('search must be a search, as Patient?name=<name>')),
});

/**
 * What a member would see, and which of their rules says so; never more than the asking administrator may see.
 * No token or login of the member is made. The audit log names the administrator.
 * @param input.body `{resource}` a reference, or `{search}` a type with its parameters
 * @returns Parameters: `member`; `seen` for each resource, with `hidden` elements and `rule`s in words; `why` when
 *   nothing is seen; `next`, the search of the next page
 * @throws {Refusal} not-found, gone, invalid, too-costly; forbidden for what the administrator may not see either
 */
export async function explainMember(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId, body }: { membershipId: string; body: unknown },
): Promise<Resource> {
  const wanted = parse(explainBody, body);
  if ((wanted.resource === undefined) === (wanted.search === undefined))
    throw new Refusal('invalid', 'Give either resource or search');
  const target = parseReference(wanted.resource ?? '');
  const key = keyOf(caller, 'ProjectMembership', membershipId);
  const headKey = target && keyOf(caller, target.type, target.id);
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const { actor: asker, found } = await admit(services, caller, [
    ...(key ? [key] : []),
    ...(headKey ? [headKey] : []),
    projectKey,
  ]);
  const membership = key && inlineResource('ProjectMembership', found.get(key));
  if (!membership) throw new Refusal('not-found', 'Not found');
  const heads = { member: found.get(key), project: found.get(projectKey) };
  const view: View = { services, asker, ...(await eyesOf(services, asker, membership, heads)) };
  await record(services, {
    project: caller.project,
    subtype: 'view-as',
    action: 'R',
    outcome: '0',
    agent: agentOf(asker),
    entities: [targetOf(membership), ...(target ? [{ reference: `${target.type}/${target.id}` }] : [])],
  });
  const explanation =
    wanted.search === undefined
      ? await explainRead(view, target, headKey && found.get(headKey))
      : await explainSearch(view, wanted.search);
  const { disclosure } = services;
  if (disclosure) for (const { resource } of explanation.seen) noteShown(disclosure, resource);
  return parametersOf(membership, explanation);
}

function keyOf({ project }: Caller, type: string, id: string) {
  return isId(id) && type !== 'User' ? keys.resource(project, type, id) : undefined;
}

async function explainRead(
  view: View,
  target: ReturnType<typeof parseReference>,
  head: Parameters<typeof standingState>[2] | undefined,
): Promise<Explanation> {
  const { services, asker, own } = view;
  if (!target || !head) throw new Refusal('not-found', 'Not found');
  const standing = await standingState(services.table, { project: asker.project, ...target }, head);
  if (!standing || !(await visible(asker, 'read', standing.resource)))
    throw new Refusal('forbidden', 'Forbidden');
  if (head.deleted === true) throw new Refusal('gone', 'Gone');
  const seen = await visible(view.together, 'read', standing.resource);
  if (seen) return { seen: [await seenAs(view, 'read', standing.resource, seen)] };
  const { type } = target;
  const why = mayInteract(own, 'read', type)
    ? `None of their rules for ${type} matches this record.`
    : `None of their rules lets them read ${type}.`;
  return { seen: [], why };
}
