import { Hl7Error } from './hl7-error.ts';

/**
 * Letters, digits, blanks and control characters cannot be separators: a text with one of them is no message. The
 * expression is made when a message comes: it takes a third of a millisecond, in every isolate anew.
 */
function isNoSeparator(character: string): boolean {
  return /[\p{L}\p{N}\p{C}\s]/u.test(character);
}

/**
 * The separators of one message (HL7 v2.5.1 section 2.5.4; truncation character: v2.7 section 2.5.5.2).
 * Names and order are those of `@medplum/core`; an empty string is a separator that the message does not use.
 */
export class Hl7Context {
  readonly segmentSeparator: string;
  readonly fieldSeparator: string;
  readonly componentSeparator: string;
  readonly repetitionSeparator: string;
  readonly escapeCharacter: string;
  readonly subcomponentSeparator: string;
  readonly truncationCharacter: string;
  /** The sender escaped its escape character, once too often: `^~\\&`. Then it stands twice in values too. */
  readonly isEscapeDoubled: boolean;

  constructor(
    segmentSeparator = '\r',
    fieldSeparator = '|',
    componentSeparator = '^',
    repetitionSeparator = '~',
    escapeCharacter = '\\',
    subcomponentSeparator = '&',
    truncationCharacter = '',
    isEscapeDoubled = false,
  ) {
    this.segmentSeparator = segmentSeparator;
    this.fieldSeparator = fieldSeparator;
    this.componentSeparator = componentSeparator;
    this.repetitionSeparator = repetitionSeparator;
    this.escapeCharacter = escapeCharacter;
    this.subcomponentSeparator = subcomponentSeparator;
    this.truncationCharacter = truncationCharacter;
    this.isEscapeDoubled = isEscapeDoubled;
  }

  /** Reads MSH-1 and MSH-2 of a segment that begins with `MSH`. Throws Hl7Error when they name no separators. */
  static fromHeader(header: string): Hl7Context {
    const field = header.charAt(3);
    const end = field === '' ? -1 : header.indexOf(field, 4);
    const written = header.slice(4, end < 0 ? undefined : end);
    const isEscapeDoubled = written.length > 4 && written[2] === written[3];
    const encoding = isEscapeDoubled ? written.slice(0, 3) + written.slice(4) : written;
    const all = [field, ...encoding.slice(0, 6).split('')];
    const usable = all.every((character) => character !== '' && !isNoSeparator(character));
    if (!usable || all.length < 2 || all.length > 6 || new Set(all).size < all.length) {
      throw new Hl7Error(
        'Not an HL7 v2 message: MSH-1 and MSH-2 must name its separators, such as MSH|^~\\&',
      );
    }
    const [, component, repetition = '', escapeCharacter = '', subcomponent = '', truncation = ''] = all;
    return new Hl7Context(
      '\r',
      field,
      component,
      repetition,
      escapeCharacter,
      subcomponent,
      truncation,
      isEscapeDoubled,
    );
  }

  /** MSH-1: the field separator. */
  getMsh1(): string {
    return this.fieldSeparator;
  }

  /** MSH-2: the encoding characters, in the order of the standard. */
  getMsh2(): string {
    return [
      this.componentSeparator,
      this.repetitionSeparator,
      this.escapeCharacter,
      this.subcomponentSeparator,
      this.truncationCharacter,
    ].join('');
  }
}
