import { string } from 'valibot';
import { mostExplained } from '../../base/limits.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId, parseReference, plainMeta, type Resource, referenceOf } from '../../base/resource.ts';
import { fields, optionalField, parse, readQuery } from '../../base/schema.ts';
import { noteShown, noteWhole } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { agentOf, targetOf } from '../../identity/audit/audit-event.ts';
import { record } from '../../identity/audit/record.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { hiddenFields, mayInteract, type Reading, visible } from '../../identity/policies/access.ts';
import { eyesOf, type MemberEyes, reasonsFor } from '../../identity/policies/member-eyes.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { inlineResource } from '../../store/items/content.ts';
import { standingState } from '../../store/items/versions.ts';
import type { SearchReader } from '../../store/search/hit.ts';
import { runSearch } from '../../store/search/run-search.ts';
import { parseSearch, type SearchRequest } from '../../store/search/search-request.ts';
import { gatherIncluded, readerOf, requireSearchable } from './included.ts';

interface View extends MemberEyes {
  services: Services;
  asker: Actor;
}

/** A resource as the member sees it. */
interface Seen {
  resource: Resource;
  hidden: readonly string[];
  /** The rules that let them see it, in words. */
  rules: readonly string[];
}

interface Explanation {
  seen: readonly Seen[];
  why?: string;
  /** The search of the next page. */
  next?: string;
}

/** @param whole with what is hidden: the rules are matched against it, and it says whose it is */
async function seenAs(
  { own, services }: View,
  interaction: Reading,
  whole: Resource,
  resource: Resource,
): Promise<Seen> {
  noteWhole(services.disclosure, whole);
  const hidden = (await hiddenFields(own, interaction, whole)) ?? [];
  return { resource, hidden, rules: await reasonsFor(own, interaction, whole) };
}

function parametersOf(
  { id, profile, active }: ProjectMembership,
  { seen, why, next }: Explanation,
): Resource {
  const text = (name: string) => (valueString: string) => ({ name, valueString });
  const parameters = {
    resourceType: 'Parameters',
    parameter: [
      { name: 'member', valueReference: { reference: `ProjectMembership/${id}`, display: profile.display } },
      { name: 'active', valueBoolean: active !== false },
      ...(why === undefined ? [] : [text('why')(why)]),
      ...(next === undefined ? [] : [text('next')(next)]),
      ...seen.map(({ resource, hidden, rules }) => ({
        name: 'seen',
        part: [
          { name: 'resource', resource: { ...resource, meta: plainMeta(resource.meta) } },
          ...hidden.map(text('hidden')),
          ...rules.map(text('rule')),
        ],
      })),
    ],
  };
  return parameters as unknown as Resource;
}

/**
 * One page of what the member would find.
 * @param text a type with its parameters: `Patient?name=Doe`
 */
async function explainSearch(view: View, text: string): Promise<Explanation> {
  const { services, asker, own, together } = view;
  const [, type = '', parameters = ''] = /^([A-Za-z]+)(?:\?(.*))?$/s.exec(text) ?? [];
  if (!isResourceType(type) || type === 'User')
    throw invalidField('search', 'search must begin with a type, as Patient?name=Doe');
  const query = readQuery(parameters);
  if (Number(query.get('_count') ?? 0) > mostExplained) query.set('_count', String(mostExplained));
  const request = parseSearch(type, query, services.table.budget, `${services.baseUrl}/fhir/R4/`);
  requireSearchable(asker, request);
  const why = whyNot(own, request);
  if (why !== undefined) return { seen: [], why };

  const explained = new Map<string, Seen>();
  const eyes = readerOf(services, together);
  const reader: SearchReader = {
    ...eyes,
    async see(whole, searched) {
      const seen = await eyes.see(whole, searched);
      if (seen) explained.set(referenceOf(whole), await seenAs(view, 'search', whole, seen));
      return seen;
    },
  };
  const page = await runSearch(reader, request);
  const included = await gatherIncluded(reader, page.resources, request.includes, page.bytes);
  const seen = [...page.resources, ...included].flatMap((one) => explained.get(referenceOf(one)) ?? []);
  if (page.next === undefined)
    return seen.length > 0 ? { seen } : { seen, why: 'They would find nothing with this search.' };
  query.set('_cursor', page.next);
  if (page.offset) query.set('_offset', String(page.offset));
  return { seen, next: `${type}?${query}` };
}

/** Why the member may not search; undefined where they may. */
function whyNot(member: Actor, request: SearchRequest): string | undefined {
  try {
    requireSearchable(member, request);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [issue] = error.issues;
    return issue?.expression
      ? `They may not search by ${issue.expression}: their rules hide it.`
      : `None of their rules lets them search ${request.type}.`;
  }
}

/** What is looked at: one of the two. */
export const explainBody = fields({
  resource: optionalField(string('resource must be a reference, as Patient/<id>')),
  search: optionalField(string('search must be a search, as Patient?name=<name>')),
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
    ...{ project: caller.project, subtype: 'view-as', action: 'R', outcome: '0' },
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
  head: Parameters<typeof standingState>[1] | undefined,
): Promise<Explanation> {
  const { services, asker, own } = view;
  if (!target || !head) throw new Refusal('not-found', 'Not found');
  const standing = await standingState(services.table, head);
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
