/** What stands in the text of a message: separators, pieces between them, escape sequences, and paths to values. */

/** A text that is no HL7 v2 message, or a path that is none. The text is public: it never quotes the message. */
export class Hl7Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Hl7Error';
  }
}

interface Alphabet {
  /** Letter of the sequence → separator. */
  separators: Map<string, string>;
  /** Separator → letter of its sequence. */
  letters: Map<string, string>;
  /** What a value must not contain. Of the control characters only the tab does no harm to a message. */
  special: RegExp;
}

let alphabetOf: (context: Hl7Context) => Alphabet;

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
  #alphabet: Alphabet | undefined;

  static {
    alphabetOf = (context) => {
      context.#alphabet ??= makeAlphabet(context);
      return context.#alphabet;
    };
  }

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
    const written = piece(header, field, field === '' ? 0 : 1) ?? '';
    const isEscapeDoubled = written.length > 4 && written[2] === written[3];
    const encoding = isEscapeDoubled ? written.slice(0, 3) + written.slice(4) : written;
    const all = [field, ...encoding.slice(0, 6).split('')];
    // Letters, digits, blanks and control characters cannot be separators. The expression is made when a message
    // comes: it takes a third of a millisecond, in every isolate anew.
    const isNone = (character: string) => character === '' || /[\p{L}\p{N}\p{C}\s]/u.test(character);
    if (all.some(isNone) || all.length < 2 || all.length > 6 || new Set(all).size < all.length) {
      throw new Hl7Error(
        'Not an HL7 v2 message: MSH-1 and MSH-2 must name its separators, such as MSH|^~\\&',
      );
    }
    const [, component, repetition = '', escaping = '', subcomponent = '', truncation = ''] = all;
    const separators = [field, component, repetition, escaping, subcomponent, truncation] as const;
    return new Hl7Context('\r', ...separators, isEscapeDoubled);
  }

  /** MSH-1: the field separator. */
  getMsh1(): string {
    return this.fieldSeparator;
  }

  /** MSH-2: the encoding characters, in the order of the standard. */
  getMsh2(): string {
    const { componentSeparator, repetitionSeparator, escapeCharacter } = this;
    const { subcomponentSeparator, truncationCharacter } = this;
    return `${componentSeparator}${repetitionSeparator}${escapeCharacter}${subcomponentSeparator}${truncationCharacter}`;
  }
}

/**
 * The piece number `position` (from 0) between separators, or undefined when there are fewer.
 * Looks no further than that piece, so one value of a long segment is read without splitting it.
 */
export function piece(text: string, separator: string, position: number): string | undefined {
  const next = (from: number) => (separator === '' ? -1 : text.indexOf(separator, from));
  let start = 0;
  for (let skipped = 0; skipped < position; skipped += 1) {
    const found = next(start);
    if (found < 0) return undefined;
    start = found + separator.length;
  }
  const end = next(start);
  return text.slice(start, end < 0 ? undefined : end);
}

/** All pieces; a separator that the message does not use splits nothing. */
export function pieces(text: string, separator: string): string[] {
  return separator === '' ? [text] : text.split(separator);
}

const PATH = /^([A-Za-z0-9]{3})(?:\[(\d+)\])?(?:[.-](\d+)(?:\[(\d+)\])?(?:[.-](\d+)(?:[.-](\d+))?)?)?$/;

/** Where a value stands. All numbers count from 1, as in the standard; undefined means not named. */
export interface Hl7Path {
  segment: string;
  occurrence: number | undefined;
  field: number | undefined;
  repetition: number | undefined;
  component: number | undefined;
  subcomponent: number | undefined;
}

/** Reads `PID.5.1`, `PID-5-1`, `PID.3[2].1`, `OBX[3].5`, `PID.3.4.2`. Throws Hl7Error on anything else. */
export function parsePath(text: string): Hl7Path {
  const [, segment, ...digits] = PATH.exec(text) ?? [];
  const numbers = digits.map((number) => (number === undefined ? undefined : Number(number)));
  if (segment === undefined || numbers.includes(0)) {
    throw new Hl7Error('Not an HL7 path: write it as PID.5.1, PID.3[2].1 or OBX[3].5, counted from 1');
  }
  const [occurrence, field, repetition, component, subcomponent] = numbers;
  return { segment, occurrence, field, repetition, component, subcomponent };
}

/**
 * Every valued element that the path names inside one segment: each repetition unless the path names one.
 * A single value is decoded; an element with components or subcomponents inside is given as it is written.
 */
export function valuesAt(segmentText: string, path: Hl7Path, context: Hl7Context): string[] {
  const { repetition, component, subcomponent, field: position = 0 } = path;
  const isHeader = path.segment === 'MSH';
  // MSH-1 is the separator itself (v2.5.1 section 2.14.9.1).
  const field =
    isHeader && position === 1
      ? context.fieldSeparator
      : piece(segmentText, context.fieldSeparator, isHeader ? position - 1 : position);
  if (field === undefined) return [];
  // MSH-1 and MSH-2 hold the separators as plain text: nothing to split or to decode.
  if (isHeader && (position === 1 || position === 2)) {
    return [repetition, component, subcomponent].some((number = 1) => number > 1) ? [] : [field];
  }
  const repetitions =
    repetition === undefined
      ? pieces(field, context.repetitionSeparator)
      : [piece(field, context.repetitionSeparator, repetition - 1) ?? ''];
  return repetitions.map((one) => valueIn(one, path, context)).filter((value) => value !== '');
}

function valueIn(repetition: string, { component, subcomponent }: Hl7Path, context: Hl7Context): string {
  const { componentSeparator, subcomponentSeparator } = context;
  const whole = component === undefined ? repetition : piece(repetition, componentSeparator, component - 1);
  const value =
    subcomponent === undefined ? whole : piece(whole ?? '', subcomponentSeparator, subcomponent - 1);
  if (value === undefined) return '';
  const isComposite = [componentSeparator, subcomponentSeparator].some((s) => s !== '' && value.includes(s));
  return isComposite ? value : decode(value, context);
}

/** Formatting, character set and local sequences: kept as they stand, since plain text cannot express them. */
const KEPT = /^(?:\.[A-Za-z]{2} ?[+-]?\d{0,4}|[CM][0-9A-Fa-f]{4,6}|Z[0-9A-Za-z]{0,32})$/;

/**
 * Plain text of a value (HL7 v2.5.1 section 2.7): `\F\ \S\ \T\ \R\ \E\ \P\` become the message's own separators,
 * `\Xhh..\` its bytes (UTF-8 when they are, else ISO 8859-1), `\.br\` a line feed; `\H\` and `\N\` (highlighting)
 * are dropped. Every other sequence, and an escape character that begins none, stays as it is.
 */
export function decode(text: string, context: Hl7Context): string {
  const around = context.escapeCharacter;
  const onSequence = (sequence: string) =>
    meaning(sequence, context) ?? (KEPT.test(sequence) ? around + sequence + around : undefined);
  return rewrite(text, context, (literal) => literal, onSequence);
}

/**
 * A plain text as a value of this message: the inverse of `decode`. A line feed becomes `\.br\`, other control
 * characters `\Xhh\`. Where the message has no escape character, what cannot be written becomes a space.
 */
export function encode(text: string, context: Hl7Context): string {
  const around = context.escapeCharacter;
  const { letters, special } = alphabetOf(context);
  return text.replace(special, (character) => {
    const sequence = letters.get(character) ?? control(character, around);
    return around === '' ? ' ' : around + sequence + around;
  });
}

/** The same value, written with the separators of another message; formatting sequences stay what they are. */
export function transcode(text: string, from: Hl7Context, to: Hl7Context): string {
  const around = to.escapeCharacter;
  const onSequence = (sequence: string) => {
    const separator = alphabetOf(from).separators.get(sequence);
    if (separator !== undefined) return encode(separator, to);
    const isSequence = meaning(sequence, from) !== undefined || KEPT.test(sequence);
    return isSequence ? around + sequence + around : undefined;
  };
  return rewrite(text, from, (literal) => encode(literal, to), onSequence);
}

/** One pass over text and escape sequences; `onSequence` answers undefined for what is none. */
function rewrite(
  written: string,
  { escapeCharacter, isEscapeDoubled }: Hl7Context,
  onLiteral: (literal: string) => string,
  onSequence: (sequence: string) => string | undefined,
): string {
  const text = isEscapeDoubled ? written.replaceAll(escapeCharacter.repeat(2), escapeCharacter) : written;
  let result = '';
  let literalFrom = 0;
  let open = escapeCharacter === '' ? -1 : text.indexOf(escapeCharacter);
  while (open >= 0) {
    const close = text.indexOf(escapeCharacter, open + 1);
    if (close < 0) break;
    const replacement = onSequence(text.slice(open + 1, close));
    if (replacement === undefined) {
      open = close;
    } else {
      result += onLiteral(text.slice(literalFrom, open)) + replacement;
      literalFrom = close + 1;
      open = text.indexOf(escapeCharacter, literalFrom);
    }
  }
  return result + onLiteral(text.slice(literalFrom));
}

function meaning(sequence: string, context: Hl7Context): string | undefined {
  if (sequence === 'H' || sequence === 'N') return '';
  if (sequence === '.br') return '\n';
  return alphabetOf(context).separators.get(sequence) ?? hexadecimal(sequence);
}

function hexadecimal(sequence: string): string | undefined {
  const hex = sequence.slice(1);
  if (!sequence.startsWith('X') || hex === '' || hex.length % 2 === 1 || /[^0-9A-Fa-f]/.test(hex)) {
    return undefined;
  }
  try {
    return decodeURIComponent(hex.replace(/../g, '%$&'));
  } catch {
    return hex.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16)));
  }
}

/** The command of a line break begins with a dot, so a message that escapes with dots says it in hexadecimal. */
function control(character: string, around: string): string {
  return character === '\n' && around !== '.'
    ? '.br'
    : `X${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function makeAlphabet(context: Hl7Context): Alphabet {
  const named: [letter: string, separator: string][] = [
    ['F', context.fieldSeparator],
    ['S', context.componentSeparator],
    ['T', context.subcomponentSeparator],
    ['R', context.repetitionSeparator],
    ['E', context.escapeCharacter],
    ['P', context.truncationCharacter],
  ];
  const used = named.filter(([, separator]) => separator !== '');
  const characters = used.map(([, separator]) => separator.replace(/[\\\]^-]/, '\\$&')).join('');
  return {
    separators: new Map(used),
    letters: new Map(used.map(([letter, separator]) => [separator, letter])),
    special: new RegExp(`[\\0-\\x08\\n-\\x1f${characters}]`, 'g'),
  };
}
