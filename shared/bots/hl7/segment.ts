import { Hl7Context, pieces } from './text.ts';

/**
 * One field: its repetitions, each a list of components as they are written (escapes included). Names and index
 * conventions are those of `@medplum/core`: components count from 1, subcomponents and repetitions from 0.
 */
export class Hl7Field {
  readonly context: Hl7Context;
  /** `components[repetition][component]`, both from 0; may be changed in place. */
  readonly components: string[][];

  constructor(components: string[][], context: Hl7Context = new Hl7Context()) {
    this.context = context;
    this.components = components;
  }

  static parse(text: string, context: Hl7Context = new Hl7Context()): Hl7Field {
    const { repetitionSeparator, componentSeparator } = context;
    const repetitions = pieces(text, repetitionSeparator);
    return new Hl7Field(
      repetitions.map((one) => pieces(one, componentSeparator)),
      context,
    );
  }

  /** `getComponent` counted from 0; kept for older Bots. */
  get(component: number, subcomponent?: number, repetition = 0): string {
    return this.getComponent(component + 1, subcomponent, repetition);
  }

  /** A component, or one of its subcomponents, as it is written; the empty string when absent. */
  getComponent(component: number, subcomponent?: number, repetition = 0): string {
    const value = this.components[repetition]?.[component - 1] ?? '';
    if (subcomponent === undefined) return value;
    return pieces(value, this.context.subcomponentSeparator)[subcomponent] ?? '';
  }

  /** Writes a component, or one of its subcomponents, as it shall stand in the message; answers whether it did. */
  setComponent(component: number, value: string, subcomponent?: number, repetition = 0): boolean {
    const { repetitionSeparator, subcomponentSeparator } = this.context;
    const sub = subcomponent ?? 0;
    // Without its separator there is only one repetition, or one subcomponent.
    const isAlone =
      (repetition > 0 && repetitionSeparator === '') || (sub > 0 && subcomponentSeparator === '');
    if (component < 1 || repetition < 0 || sub < 0 || isAlone) return false;
    while (this.components.length <= repetition) this.components.push(['']);
    const components = this.components[repetition] ?? [];
    while (components.length < component) components.push('');
    const subcomponents = pieces(components[component - 1] ?? '', subcomponentSeparator);
    while (subcomponents.length < sub) subcomponents.push('');
    subcomponents[sub] = value;
    components[component - 1] =
      subcomponent === undefined ? value : subcomponents.join(subcomponentSeparator);
    return true;
  }

  toString(): string {
    const { componentSeparator, repetitionSeparator } = this.context;
    return this.components.map((all) => all.join(componentSeparator)).join(repetitionSeparator);
  }
}

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
    for (const position of this.#fields.keys()) this.get(position);
    return this.#fields as Hl7Field[];
  }

  /** The field at a position of `fields`; kept for older Bots, which count MSH so. */
  get(position: number): Hl7Field | undefined {
    const field = this.#fields[position];
    if (typeof field !== 'string') return field;
    // MSH-2 lists the separators and is not split by them.
    const isMsh2 = this.name === 'MSH' && position === 1;
    const parsed = isMsh2 ? new Hl7Field([[field]], this.context) : Hl7Field.parse(field, this.context);
    this.#fields[position] = parsed;
    return parsed;
  }

  /** The field with the number of the standard, or undefined when the segment ends before it. */
  getField(index: number): Hl7Field | undefined {
    if (this.name === 'MSH' && index === 1) return new Hl7Field([[this.context.getMsh1()]], this.context);
    return this.get(this.#position(index));
  }

  /** `getField(field)?.getComponent(…)`; the empty string when absent. Not decoded: see `Hl7Message.get`. */
  getComponent(field: number, component: number, subcomponent?: number, repetition = 0): string {
    return this.getField(field)?.getComponent(component, subcomponent, repetition) ?? '';
  }

  /** Replaces a field, adding empty ones before it. MSH-1 and MSH-2 cannot be changed: answers false. */
  setField(index: number, field: Hl7Field | string): boolean {
    if (index < 0 || (this.name === 'MSH' && (index === 1 || index === 2))) return false;
    const position = this.#position(index);
    while (this.#fields.length <= position) this.#fields.push('');
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
    if (this.name === 'MSH' && (field === 1 || field === 2)) return false;
    return this.getField(field)?.setComponent(component, value, subcomponent, repetition) ?? false;
  }

  toString(): string {
    return this.#fields.join(this.context.fieldSeparator);
  }

  #position(index: number): number {
    return this.name === 'MSH' && index > 0 ? index - 1 : index;
  }
}
