import { expect } from '@jest/globals';
import { Hl7Message as MedplumMessage } from '@medplum/core';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';

/**
 * Compares what every accessor that both have gives. Theirs gets the text without what only ours accepts: they
 * refuse byte order marks, and read a line end at the end of the text as one more segment.
 */
export function expectSameAsMedplum(text: string): void {
  const theirs = MedplumMessage.parse(text.replace(/^\uFEFF|[\r\n]+$/g, ''));
  const ours = Hl7Message.parse(text);
  expect(ours.toString()).toBe(theirs.toString().replace(/[\r\n]+/g, '\r'));
  expect(everything(ours as unknown as MedplumMessage)).toEqual(everything(theirs));
}

function everything(message: MedplumMessage): unknown[] {
  const seen: unknown[] = [message.header.toString(), message.context.getMsh1(), message.context.getMsh2()];
  for (const [position, segment] of message.segments.entries()) {
    seen.push(segment.name, message.getSegment(position)?.toString());
    seen.push(message.getSegment(segment.name)?.toString(), message.getAllSegments(segment.name).map(String));
    seen.push(segment.fields.map(String));
    for (let index = 0; index <= segment.fields.length + 1; index += 1) {
      const field: (typeof segment.fields)[number] | undefined = segment.getField(index);
      seen.push(field?.toString(), field?.components);
      for (const [repetition, components] of (field?.components ?? []).entries()) {
        for (let component = 0; component <= components.length + 1; component += 1) {
          for (const subcomponent of [undefined, 0, 1, 2]) {
            seen.push(segment.getComponent(index, component, subcomponent, repetition));
          }
        }
      }
    }
  }
  return seen;
}
