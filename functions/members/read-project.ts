import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { emergencyMinutesOf } from '../../shared/access/emergency.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { lacks, type ProjectFeature, projectFeatures } from '../../shared/project-features.ts';
import {
  auditsReads,
  projectSettings,
  settingBounds,
  settingDefaults,
} from '../../shared/project-settings.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import { typedKeys } from '../../shared/typed-keys.ts';

/** A Project as its administrators see it. */
export interface ProjectAnswer {
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
  const key = keys.resource(caller.project, 'Project', caller.project);
  const { found } = await admit(services, caller, [key]);
  const project = inlineResource('Project', found.get(key));
  if (!project) throw new Refusal('not-found', 'Not found');
  return projectAnswer(project, found.get(key));
}

/** @param head of the Project */
export function projectAnswer(project: Resource, head: Item | undefined): ProjectAnswer {
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
