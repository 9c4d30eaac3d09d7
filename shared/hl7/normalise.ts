import { Hl7Context } from './context.ts';
import { transcode } from './escape.ts';
import { Hl7Error } from './hl7-error.ts';
import { pieces } from './piece.ts';
import { SegmentIndex } from './segment-index.ts';

const STANDARD = new Hl7Context();

/**
 * The same message as `hl7-standard` 1.0.4 reads it right: no frame, CR after every segment, separators `|^~\&`
 * (data and escapes rewritten accordingly), names in upper case. Throws Hl7Error for a line that is no segment,
 * and for what is no message.
 */
export function normalise(text: string): string {
  const index = new SegmentIndex(text);
  const context = Hl7Context.fromHeader(index.textAt(0));
  const lines: string[] = [];
  for (let position = 0; position < index.count; position += 1) {
    lines.push(`${normaliseSegment(index.textAt(position), position, context)}\r`);
  }
  return lines.join('');
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
