import {
  exactOptional,
  type GenericSchema,
  number,
  object,
  objectWithRest,
  picklist,
  string,
  undefined_,
  union,
} from 'valibot';
import { messageBody } from '../../base/schema.ts';

/** As rules of subscribers name who speaks. */
export const eventSource = 'portico';

/** What the bus tells of (docs/events.md has the schema of each). */
export const busEventNames = [
  'membership.invited',
  'membership.accepted',
  'membership.changed',
  'membership.removed',
  'bot.deployed',
  'bot.executed',
  'subscription.failed',
  'project.created',
] as const;

export type BusEventName = (typeof busEventNames)[number];

/** Something that happened, by ids alone: no name, no address, no content. */
export interface BusEvent {
  name: BusEventName;
  detail: {
    /** The same whenever this event is told again. */
    id: string;
    project: string;
    /** An instant. */
    time: string;
    /** Of the request that brought it about, where one did. */
    trace?: string;
    /** Ids and numbers of its kind. */
    [more: string]: string | number | undefined;
  };
}

const busEvent: GenericSchema<BusEvent> = object({
  name: picklist(busEventNames),
  detail: objectWithRest(
    { id: string(), project: string(), time: string(), trace: exactOptional(string()) },
    union([string(), number(), undefined_()]),
  ),
});

/** @throws {Error} when the body of a message is none */
export const parseBusEvent = messageBody('event of the bus', busEvent);

/** Where events go. */
export interface Bus {
  /** @throws {Error} when the event was not taken */
  publish(event: BusEvent): Promise<void>;
}
