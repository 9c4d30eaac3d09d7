import type HL7 from 'hl7-standard';

/** Parses a normalised text with the library `hl7-standard`; whoever parses a message passes one in. */
export type StandardParser = (normalised: string) => HL7;

/**
 * A parser over the library's class, which the caller loads: Portico's message itself imports nothing.
 * What the library builds ends its lines with CR, as the standard says, not with its own CRLF.
 */
export function standardParser(library: typeof HL7): StandardParser {
  return (normalised) => {
    const message = new library(normalised, { lineEndings: '\r' });
    message.transform();
    return message;
  };
}
