import type { Hl7Context } from './context.ts';

/** Formatting, character set and local sequences: kept as they stand, since plain text cannot express them. */
const KEPT = /^(?:\.[A-Za-z]{2} ?[+-]?\d{0,4}|[CM][0-9A-Fa-f]{4,6}|Z[0-9A-Za-z]{0,32})$/;

/**
 * Plain text of a value (HL7 v2.5.1 section 2.7): `\F\ \S\ \T\ \R\ \E\ \P\` become the message's own separators,
 * `\Xhh..\` its bytes (UTF-8 when they are, else ISO 8859-1), `\.br\` a line feed; `\H\` and `\N\` (highlighting)
 * are dropped. Every other sequence, and an escape character that begins none, stays as it is.
 */
export function decode(text: string, context: Hl7Context): string {
  const around = context.escapeCharacter;
  return rewrite(
    text,
    context,
    (literal) => literal,
    (sequence) =>
      meaning(sequence, context) ?? (KEPT.test(sequence) ? around + sequence + around : undefined),
  );
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
  return rewrite(
    text,
    from,
    (literal) => encode(literal, to),
    (sequence) => {
      const separator = separatorNamed(sequence, from);
      if (separator !== undefined) {
        return encode(separator, to);
      }
      const isSequence = meaning(sequence, from) !== undefined || KEPT.test(sequence);
      return isSequence ? around + sequence + around : undefined;
    },
  );
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
    if (close < 0) {
      break;
    }
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
  if (sequence === 'H' || sequence === 'N') {
    return '';
  }
  if (sequence === '.br') {
    return '\n';
  }
  return separatorNamed(sequence, context) ?? hexadecimal(sequence);
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

function separatorNamed(sequence: string, context: Hl7Context): string | undefined {
  return alphabetOf(context).separators.get(sequence);
}

/** The command of a line break begins with a dot, so a message that escapes with dots says it in hexadecimal. */
function control(character: string, around: string): string {
  return character === '\n' && around !== '.'
    ? '.br'
    : `X${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

interface Alphabet {
  /** Letter of the sequence → separator. */
  separators: Map<string, string>;
  /** Separator → letter of its sequence. */
  letters: Map<string, string>;
  /** What a value must not contain. Of the control characters only the tab does no harm to a message. */
  special: RegExp;
}

const alphabets = new WeakMap<Hl7Context, Alphabet>();

function alphabetOf(context: Hl7Context): Alphabet {
  let alphabet = alphabets.get(context);
  if (alphabet === undefined) {
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
    alphabet = {
      separators: new Map(used),
      letters: new Map(used.map(([letter, separator]) => [separator, letter])),
      special: new RegExp(`[\\0-\\x08\\n-\\x1f${characters}]`, 'g'),
    };
    alphabets.set(context, alphabet);
  }
  return alphabet;
}
