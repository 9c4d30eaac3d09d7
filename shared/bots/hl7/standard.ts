import type HL7 from 'hl7-standard';
import { type StandardParser, segmentsIn } from './message.ts';
import { Hl7Context, Hl7Error, pieces, transcode } from './text.ts';

const STANDARD = new Hl7Context();

/**
 * The same message as `hl7-standard` 1.0.4 reads it right: no frame, CR after every segment, separators `|^~\&`
 * (data and escapes rewritten accordingly), names in upper case. Throws Hl7Error for a line that is no segment,
 * and for what is no message.
 */
export function normalise(text: string): string {
  const segments = segmentsIn(text);
  const context = Hl7Context.fromHeader(segments[0] ?? '');
  return segments.map((segment, position) => `${normaliseSegment(segment, position, context)}\r`).join('');
}

function normaliseSegment(text: string, position: number, context: Hl7Context): string {
  const [name = '', ...fields] = pieces(text, context.fieldSeparator);
  if (!/^[A-Za-z0-9]{3}$/.test(name)) {
    throw new Hl7Error(
      `hl7-standard cannot read segment ${position + 1}: its name is not three letters or digits`,
    );
  }
  const isHeader = position === 0;
  const values = fields.map((field, at) =>
    isHeader && at === 0 ? STANDARD.getMsh2() : normaliseField(field, context),
  );
  // A segment without any field would be dropped: it gets an empty one.
  return [name.toUpperCase(), ...(values.length === 0 ? [''] : values)].join('|');
}

function normaliseField(field: string, context: Hl7Context): string {
  const isStandard =
    context.getMsh2().startsWith(STANDARD.getMsh2()) &&
    context.fieldSeparator === '|' &&
    !context.isEscapeDoubled;
  const value = isStandard ? field : withStandardSeparators(field, context);
  // Subcomponents alone would be read, and built, as repetitions: an empty second component prevents it.
  return value.includes('&') && !/[\^~]/.test(value) ? `${value}^` : value;
}

function withStandardSeparators(field: string, context: Hl7Context): string {
  const value = (text: string) => transcode(text, context, STANDARD);
  const component = (text: string) => pieces(text, context.subcomponentSeparator).map(value).join('&');
  const repetition = (text: string) => pieces(text, context.componentSeparator).map(component).join('^');
  return pieces(field, context.repetitionSeparator).map(repetition).join('~');
}

/**
 * A parser over the library's class, which the caller loads: Portico's message itself imports nothing.
 * What the library builds ends its lines with CR, as the standard says, not with its own CRLF.
 */
export function standardParser(library: typeof HL7): StandardParser {
  return (text) => {
    const message = new library(normalise(text), { lineEndings: '\r' });
    message.transform();
    return message;
  };
}
