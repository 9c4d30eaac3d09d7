import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';

/** What a scan asks for: all that may belong to a Project, and more than that nothing. */
export function ofProject(project: string) {
  return {
    FilterExpression:
      'begins_with(pk, :own) OR contains(sk, :id) OR #project = :id OR onlyProject = :id OR scopeProject = :id OR begins_with(subjectKey, :own)',
    ExpressionAttributeNames: { '#project': 'project' },
    ExpressionAttributeValues: { ':own': `P#${project}#`, ':id': project },
  };
}

/**
 * Whether an item is to go with the Project: under its keys, or above Projects and about it alone. Its head is the
 * last to go, and by itself.
 */
export function belongs(project: string, item: Item): boolean {
  const { pk, sk } = item;
  const own = `P#${project}#`;
  const head = keys.resource(project, 'Project', project);
  if (pk === head.pk && sk === head.sk) return false;
  if (pk.startsWith(own)) return true;
  if (pk.startsWith('P#') || pk === keys.deletion(project).pk) return false;
  if (pk.startsWith('U#')) return sk.startsWith(`M#${project}#`) || String(item.subjectKey).startsWith(own);
  const namesIt = sk.split('#').includes(project);
  return namesIt || item.project === project || item.onlyProject === project;
}

/** The User whom an item tells of, who is to go too when they are in no other Project. */
export function personIn(project: string, item: Item): string | undefined {
  const { pk, sk } = item;
  if (pk.startsWith('U#') && (sk.startsWith(`M#${project}#`) || item.scopeProject === project)) {
    return pk.slice(2);
  }
  const isPerson = pk.startsWith(`P#${project}#PERSON#`) && typeof item.userId === 'string';
  return isPerson ? String(item.userId) : undefined;
}
