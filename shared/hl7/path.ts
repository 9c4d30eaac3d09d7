import type { Hl7Context } from './context.ts';
import { decode } from './escape.ts';
import { Hl7Error } from './hl7-error.ts';
import { piece, pieces } from './piece.ts';

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
  const match = PATH.exec(text);
  const numbers = match?.slice(2).map((digits) => (digits === undefined ? undefined : Number(digits)));
  if (match?.[1] === undefined || numbers === undefined || numbers.includes(0)) {
    throw new Hl7Error('Not an HL7 path: write it as PID.5.1, PID.3[2].1 or OBX[3].5, counted from 1');
  }
  const [occurrence, field, repetition, component, subcomponent] = numbers;
  return { segment: match[1], occurrence, field, repetition, component, subcomponent };
}

/**
 * Every valued element that the path names inside one segment: each repetition unless the path names one.
 * A single value is decoded; an element with components or subcomponents inside is given as it is written.
 */
export function valuesAt(segmentText: string, path: Hl7Path, context: Hl7Context): string[] {
  const field = fieldAt(segmentText, path, context);
  if (field === undefined) {
    return [];
  }
  if (isHeaderSeparators(path)) {
    return [path.repetition, path.component, path.subcomponent].some((n = 1) => n > 1) ? [] : [field];
  }
  const named =
    path.repetition === undefined
      ? undefined
      : piece(field, context.repetitionSeparator, path.repetition - 1);
  const repetitions =
    path.repetition === undefined ? pieces(field, context.repetitionSeparator) : [named ?? ''];
  return repetitions.map((repetition) => valueIn(repetition, path, context)).filter((value) => value !== '');
}

/** The text of the field with all its repetitions; MSH-1 is the separator itself (v2.5.1 section 2.14.9.1). */
function fieldAt(segmentText: string, path: Hl7Path, context: Hl7Context): string | undefined {
  const position = path.field ?? 0;
  if (path.segment !== 'MSH') {
    return piece(segmentText, context.fieldSeparator, position);
  }
  return position === 1 ? context.fieldSeparator : piece(segmentText, context.fieldSeparator, position - 1);
}

/** MSH-1 and MSH-2 hold the separators as plain text: nothing to split or to decode. */
function isHeaderSeparators(path: Hl7Path): boolean {
  return path.segment === 'MSH' && (path.field === 1 || path.field === 2);
}

function valueIn(repetition: string, path: Hl7Path, context: Hl7Context): string {
  const { componentSeparator, subcomponentSeparator } = context;
  let value: string | undefined = repetition;
  if (path.component !== undefined) {
    value = piece(value, componentSeparator, path.component - 1);
  }
  if (path.subcomponent !== undefined && value !== undefined) {
    value = piece(value, subcomponentSeparator, path.subcomponent - 1);
  }
  if (value === undefined) {
    return '';
  }
  const composite = [componentSeparator, subcomponentSeparator].some((s) => s !== '' && value.includes(s));
  return composite ? value : decode(value, context);
}
