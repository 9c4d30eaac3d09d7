/** `event.input` of HL7 v2. */

import { Hl7Message } from '../../../hl7/message.ts';
import { standardParser } from '../../../hl7/standard.ts';
import { printAs } from '../console.ts';
import { requireLibrary } from '../scope.ts';

/** Taken before the Bot can put another in its place. */
const textOf = Function.prototype.call.bind(Hl7Message.prototype.toString);

printAs((value) => (value instanceof Hl7Message ? textOf(value) : undefined));

/** The library that parses `standard` is loaded on first use: most Bots never look at it. */
export function parseMessage(text: string): Hl7Message {
  return Hl7Message.parse(text, {
    standard: (whole) =>
      standardParser(requireLibrary('hl7-standard') as Parameters<typeof standardParser>[0])(whole),
  });
}
