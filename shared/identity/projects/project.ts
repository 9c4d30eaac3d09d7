import { check, description, maxLength, number, pipe, string, trim } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { metaOf, type Resource } from '../../base/resource.ts';
import { fields, optionalField, parse, wholeNumber } from '../../base/schema.ts';
import { typedKeys } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { updateActions } from '../../store/items/change.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, details, projectOf } from '../audit/audit-event.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { emergencyMinutesOf, emergencySetting } from '../gate/emergency.ts';
import { idleMinutesText, idleSetting, isIdleMinutes } from '../gate/idle-time.ts';
import { stampOf } from '../invitations/membership-actions.ts';
import {
  auditsReads,
  lacks,
  type ProjectFeature,
  projectFeatures,
  projectSettings,
  settingBounds,
  settingDefaults,
} from './settings.ts';

/** A Project as its administrators see it. */
interface ProjectAnswer {
  project: Resource;
  /** Whether AuditEvents are kept of what is read. */
  auditReads: boolean;
  /** How long emergency access lasts, in minutes; 0 where nobody can take it. */
  emergencyMinutes: number;
  /** From whom its mails come; left out when it is the name of the Project. */
  senderName?: string;
  /** People are signed out after so many minutes without use; left out when they are not. */
  idleMinutes?: number;
  /** What it may do; provisioning changes it. */
  features: readonly ProjectFeature[];
  /** The numbers that hold for it (docs/limits.md); provisioning changes them. */
  limits: Record<keyof typeof settingBounds, number>;
}

/** The administrator's own Project. @throws {Refusal} not-found */
export async function readProject(
  services: Services,
  caller: Caller<'administrator'>,
): Promise<ProjectAnswer> {
  const { projectHead } = await admit(services, caller, []);
  return projectAnswer(requireProject(projectHead), projectHead);
}

/** @throws {Refusal} not-found */
function requireProject(head: Item | undefined): Resource {
  const project = inlineResource('Project', head);
  if (!project) throw new Refusal('not-found', 'Not found');
  return project;
}

/** @param head of the Project */
function projectAnswer(project: Resource, head: Item | undefined): ProjectAnswer {
  const { senderName, idleMinutes, ...settings } = projectSettings(head);
  const limits = { ...settingDefaults };
  for (const name of typedKeys(settingBounds)) limits[name] = settings[name] ?? settingDefaults[name];
  const auditReads = auditsReads(head);
  const features = projectFeatures.filter((feature) => !lacks(head, feature));
  const emergencyMinutes = emergencyMinutesOf(head);
  return {
    ...{ project, auditReads, emergencyMinutes, features, limits },
    ...(senderName ? { senderName } : {}),
    ...(idleMinutes ? { idleMinutes } : {}),
  };
}

const most = 200;
const nameText = `name must be up to ${most} characters without control characters, and not empty`;
const senderText = `senderName must be up to ${most} characters without control characters`;
const mostEmergencyMinutes = 480;
const minutesText = `emergencyMinutes must be a whole number from 0 to ${mostEmergencyMinutes}`;
const isPlain = (text: string) => !/\p{C}/u.test(text);

export const changeProjectBody = fields({
  name: optionalField(
    pipe(
      string(nameText),
      trim(),
      maxLength(most, nameText),
      check((text) => text !== '' && isPlain(text), nameText),
    ),
  ),
  senderName: optionalField(
    pipe(
      string(senderText),
      trim(),
      maxLength(most, senderText),
      check(isPlain, senderText),
      description('From whom the mails of the Project come; empty for its name'),
    ),
  ),
  idleMinutes: optionalField(
    pipe(
      number(idleMinutesText),
      check(isIdleMinutes, idleMinutesText),
      description('People are signed out after so many minutes without use, 10 to 1440; 0 for never'),
    ),
  ),
  emergencyMinutes: optionalField(
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
  const { actor, projectHead: head } = await admit(services, caller, []);
  const before = requireProject(head);
  const { name, senderName, idleMinutes, emergencyMinutes } = parse(changeProjectBody, body);
  const nowMs = services.now();
  const meta = metaOf({ ...stampOf(services, actor), nowMs }, before.meta);
  const changed: Resource = { ...before, ...(name === undefined ? {} : { name }), meta };
  const settings = projectSettings(head);
  const sender = senderName ?? settings.senderName ?? '';
  // Saved once more as it is, it does not count anew.
  const isNewIdle = idleMinutes !== undefined && idleMinutes !== (settings.idleMinutes ?? 0);
  const detail = details({ ...(isNewIdle ? { idleMinutes } : {}), emergencyMinutes });
  const entities = [{ ...projectOf(actor), ...(detail.length > 0 ? { detail } : {}) }];
  const event = { subtype: 'change-project', action: 'U', entities } as const;
  const actions = [
    ...updateActions(caller.project, changed, before, {
      senderName: sender,
      ...(isNewIdle ? idleSetting(head, idleMinutes, nowMs) : {}),
      ...(emergencyMinutes === undefined ? {} : emergencySetting(head, emergencyMinutes, nowMs)),
    }),
    auditAction(services, actor, event, nowMs),
  ];
  const refused = () => new Refusal('conflict', 'The Project was changed at the same time');
  await services.table.transact(actions).catch(orThrow(refused));
  const key = keys.resource(caller.project, 'Project', caller.project);
  return projectAnswer(changed, await readItem(services.table, key));
}
