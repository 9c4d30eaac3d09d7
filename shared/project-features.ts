import { Refusal } from './refusal.ts';
import type { Item } from './table/item.ts';

/** What every Project may do, unless it is provisioned without; what a person reads of each. */
const features = {
  bots: 'Bots',
  cron: 'schedules of Bots',
  subscriptions: 'Subscriptions',
  email: 'mails to the people whom it invites',
};

export type ProjectFeature = keyof typeof features;

export const projectFeatures = Object.keys(features) as readonly ProjectFeature[];

/** The features that a Project is provisioned without. @param head of the Project */
export function featuresOff(head: Item | undefined): readonly ProjectFeature[] {
  const off = head?.featuresOff;
  return Array.isArray(off) ? projectFeatures.filter((one) => off.includes(one)) : [];
}

/** @param head of the Project */
export function lacks(head: Item | undefined, feature: ProjectFeature): boolean {
  return featuresOff(head).includes(feature);
}

/**
 * @param actor who wants to use it, with what their Project lacks
 * @throws {Refusal} forbidden, naming the feature
 */
export function requireFeature(
  { lacking }: { lacking?: readonly ProjectFeature[] },
  feature: ProjectFeature,
): void {
  if (!lacking?.includes(feature)) return;
  throw new Refusal(
    'forbidden',
    `This Project has no ${features[feature]}: its feature ${feature} is switched off by whoever operates the service`,
  );
}

/** As they are asked for. @throws {Error} naming what is none, or is named twice */
export function requireFeatures(asked: unknown): readonly ProjectFeature[] {
  const off = projectFeatures.filter((one) => Array.isArray(asked) && asked.includes(one));
  if (Array.isArray(asked) && off.length === asked.length) return off;
  throw new Error(`featuresOff must be a list of some of ${projectFeatures.join(', ')}`);
}
