import { Hl7Context } from './context.ts';
import { Hl7Field } from './field.ts';
import { pieces } from './piece.ts';

/**
 * One segment, split into fields; a field is split when it is asked for. Names and index conventions are those
 * of `@medplum/core`. Fields count from 1 as in the standard, field 0 is the name, MSH-1 the field separator.
 */
export class Hl7Segment {
  readonly context: Hl7Context;
  readonly name: string;
  readonly #fields: (Hl7Field | string)[];

  /** `fields[0]` is the name; in MSH `fields[1]` is MSH-2, since MSH-1 is what stands between them. */
  constructor(fields: readonly (Hl7Field | string)[], context: Hl7Context = new Hl7Context()) {
    this.context = context;
    this.#fields = [...fields];
    this.name = String(fields[0] ?? '');
  }

  static parse(text: string, context: Hl7Context = new Hl7Context()): Hl7Segment {
    return new Hl7Segment(pieces(text, context.fieldSeparator), context);
  }

  /** All fields, the name first. It is the live list: what is pushed to it belongs to the segment. */
  get fields(): Hl7Field[] {
    for (let position = 0; position < this.#fields.length; position += 1) {
      this.get(position);
    }
    return this.#fields as Hl7Field[];
  }

  /** The field at a position of `fields`; kept for older Bots, which count MSH so. */
  get(position: number): Hl7Field | undefined {
    const field = this.#fields[position];
    if (typeof field !== 'string') {
      return field;
    }
    // MSH-2 lists the separators and is not split by them.
    const isMsh2 = this.name === 'MSH' && position === 1;
    const parsed = isMsh2 ? new Hl7Field([[field]], this.context) : Hl7Field.parse(field, this.context);
    this.#fields[position] = parsed;
    return parsed;
  }

  /** The field with the number of the standard, or undefined when the segment ends before it. */
  getField(index: number): Hl7Field | undefined {
    if (this.name === 'MSH' && index === 1) {
      return new Hl7Field([[this.context.getMsh1()]], this.context);
    }
    return this.get(this.#position(index));
  }

  /** `getField(field)?.getComponent(…)`; the empty string when absent. Not decoded: see `Hl7Message.get`. */
  getComponent(field: number, component: number, subcomponent?: number, repetition = 0): string {
    return this.getField(field)?.getComponent(component, subcomponent, repetition) ?? '';
  }

  /** Replaces a field, adding empty ones before it. MSH-1 and MSH-2 cannot be changed: answers false. */
  setField(index: number, field: Hl7Field | string): boolean {
    if (index < 0 || (this.name === 'MSH' && (index === 1 || index === 2))) {
      return false;
    }
    const position = this.#position(index);
    while (this.#fields.length <= position) {
      this.#fields.push('');
    }
    this.#fields[position] = field;
    return true;
  }

  /** `getField(field)?.setComponent(…)`; false when the field is not there. */
  setComponent(
    field: number,
    component: number,
    value: string,
    subcomponent?: number,
    repetition = 0,
  ): boolean {
    if (this.name === 'MSH' && (field === 1 || field === 2)) {
      return false;
    }
    return this.getField(field)?.setComponent(component, value, subcomponent, repetition) ?? false;
  }

  toString(): string {
    return this.#fields.join(this.context.fieldSeparator);
  }

  #position(index: number): number {
    return this.name === 'MSH' && index > 0 ? index - 1 : index;
  }
}
