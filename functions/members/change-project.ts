import { check, description, maxLength, number, pipe, string, trim } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { emergencySetting } from '../../shared/access/emergency.ts';
import { idleMinutesText, idleSetting, isIdleMinutes } from '../../shared/access/idle-time.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, projectOf } from '../../shared/audit/who.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { projectSettings } from '../../shared/project-settings.ts';
import { Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { wholeNumber } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { updateActions } from '../../shared/store/resource-item.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { type ProjectAnswer, projectAnswer } from './read-project.ts';

const most = 200;
const nameText = `name must be up to ${most} characters without control characters, and not empty`;
const senderText = `senderName must be up to ${most} characters without control characters`;
const mostEmergencyMinutes = 480;
const minutesText = `emergencyMinutes must be a whole number from 0 to ${mostEmergencyMinutes}`;
const isPlain = (text: string) => !/\p{C}/u.test(text);

export const changeProjectBody = fields({
  name: optional(
    pipe(
      string(nameText),
      trim(),
      maxLength(most, nameText),
      check((text) => text !== '' && isPlain(text), nameText),
    ),
  ),
  senderName: optional(
    pipe(
      string(senderText),
      trim(),
      maxLength(most, senderText),
      check(isPlain, senderText),
      description('From whom the mails of the Project come; empty for its name'),
    ),
  ),
  idleMinutes: optional(
    pipe(
      number(idleMinutesText),
      check(isIdleMinutes, idleMinutesText),
      description('People are signed out after so many minutes without use, 10 to 1440; 0 for never'),
    ),
  ),
  emergencyMinutes: optional(
    pipe(
      wholeNumber(0, mostEmergencyMinutes, minutesText),
      description('How long emergency access lasts; 0 where nobody can take it'),
    ),
  ),
});

/**
 * Changes the name of the caller's Project, from whom its mails come, when it signs people out, and how long emergency
 * access lasts: what goes on ends with a shorter time. What is left out stays.
 * @throws {Refusal} invalid; not-found; conflict when it was changed at the same time
 */
export async function changeProject(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<ProjectAnswer> {
  const key = keys.resource(caller.project, 'Project', caller.project);
  const { actor, found } = await admit(services, caller, [key]);
  const before = inlineResource('Project', found.get(key));
  if (!before) throw new Refusal('not-found', 'Not found');
  const { name, senderName, idleMinutes, emergencyMinutes } = parse(changeProjectBody, body);
  const nowMs = services.now();
  const changed: Resource = {
    ...before,
    ...(name === undefined ? {} : { name }),
    meta: {
      ...before.meta,
      versionId: services.newId(),
      lastUpdated: new Date(nowMs).toISOString(),
      author: { reference: actor.profile },
    },
  };
  const settings = projectSettings(found.get(key));
  const sender = senderName ?? settings.senderName ?? '';
  // Saved once more as it is, it does not count anew.
  const isNewIdle = idleMinutes !== undefined && idleMinutes !== (settings.idleMinutes ?? 0);
  const audited: Audited = {
    project: caller.project,
    subtype: 'change-project',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [
      {
        ...projectOf(actor),
        ...detailOf({ ...(isNewIdle ? { idleMinutes } : {}), emergencyMinutes }),
      },
    ],
  };
  try {
    await services.table.transact([
      ...updateActions(caller.project, changed, before, {
        senderName: sender,
        ...(isNewIdle ? idleSetting(found.get(key), idleMinutes, nowMs) : {}),
        ...(emergencyMinutes === undefined ? {} : emergencySetting(found.get(key), emergencyMinutes, nowMs)),
      }),
      { name: 'audit', put: auditItem(audited, services.newId(), nowMs) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('conflict', 'The Project was changed at the same time');
  }
  return projectAnswer(changed, (await services.table.read([key])).get(key));
}

function detailOf(settings: Record<string, number | undefined>) {
  const detail = Object.entries(settings).flatMap(([type, value]) =>
    value === undefined ? [] : [{ type, valueString: String(value) }],
  );
  return detail.length > 0 ? { detail } : {};
}
