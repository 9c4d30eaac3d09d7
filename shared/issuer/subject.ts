import { object, string } from 'valibot';
import { Refusal } from '../refusal.ts';
import { stored } from '../schema/stored.ts';
import { type Key, keys } from '../table/keys.ts';
import { ownerOf } from '../table/owner.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transact.ts';

/** Whom an issuer names, and how far its word goes: its Project, or (undefined) the stage. */
export interface Subject {
  issuer: string;
  project: string | undefined;
  subject: string;
}

/**
 * The subject as it is linked to a User that lives in one Project: what the stage's issuer says of that User
 * stands apart, so that no Project takes a person's account away from the others. Issuers have no space.
 */
export function subjectWithin(of: Subject, only: string): Subject {
  return of.project === undefined ? { ...of, issuer: `stage ${of.issuer}`, project: only } : of;
}

/**
 * The User that followed an invitation while signed in as this subject.
 * @param only the Project that is asked for: a User that lives there only comes first
 */
export async function linkedUser(table: Table, of: Subject, only?: string): Promise<string | undefined> {
  const within = only === undefined ? of : subjectWithin(of, only);
  const [first, second] = [keyOf(within), keyOf(of)];
  const found = await table.read([first, second]);
  return ownerOf(found.get(first) ?? found.get(second));
}

const subjectOf = stored('subject of a User', object({ subjectKey: string() }));

function keyOf({ project, issuer, subject }: Subject): Key {
  return keys.subject(project, issuer, subject);
}

/**
 * Links a subject to a User: neither may be linked to another one. A Project's own issuer vouches for
 * that Project only, so there a new invitation may replace the account of a person who lost theirs.
 * @throws {Refusal} conflict
 */
export async function linkActions(table: Table, subject: Subject, userId: string): Promise<Action[]> {
  const { project, issuer } = subject;
  const own = keyOf(subject);
  const name = keys.userSubject(userId, project, issuer);
  const found = await table.read([own, name]);
  const linkedTo = ownerOf(found.get(own));
  const before = subjectOf(found.get(name))?.subjectKey;
  if (linkedTo !== undefined && linkedTo !== userId) {
    throw new Refusal('conflict', 'This account belongs to another person');
  }
  const isReplaced = before !== undefined && before !== own.pk;
  if (isReplaced && project === undefined) {
    throw new Refusal('conflict', 'You signed in with another account of this issuer before');
  }
  return [
    {
      name: 'subject',
      put: { ...own, userId },
      if: 'attribute_not_exists(pk) OR userId = :user',
      values: { ':user': userId },
    },
    {
      name: 'subject of user',
      put: { ...name, subjectKey: own.pk },
      ...(before === undefined
        ? { if: 'attribute_not_exists(pk)' }
        : { if: 'subjectKey = :before', values: { ':before': before } }),
    },
    ...(isReplaced ? [{ name: 'earlier subject', remove: { pk: before, sk: own.sk } } satisfies Action] : []),
  ];
}
