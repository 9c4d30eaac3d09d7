import { Hl7Context } from './context.ts';
import { pieces } from './piece.ts';

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
    const repetitions = pieces(text, context.repetitionSeparator);
    return new Hl7Field(
      repetitions.map((repetition) => pieces(repetition, context.componentSeparator)),
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
    if (subcomponent === undefined) {
      return value;
    }
    return pieces(value, this.context.subcomponentSeparator)[subcomponent] ?? '';
  }

  /** Writes a component, or one of its subcomponents, as it shall stand in the message; answers whether it did. */
  setComponent(component: number, value: string, subcomponent?: number, repetition = 0): boolean {
    const { repetitionSeparator, subcomponentSeparator } = this.context;
    const isNowhere = component < 1 || repetition < 0 || (subcomponent ?? 0) < 0;
    // Without its separator there is only one repetition, or one subcomponent.
    const isUnsayable =
      (repetition > 0 && repetitionSeparator === '') ||
      ((subcomponent ?? 0) > 0 && subcomponentSeparator === '');
    if (isNowhere || isUnsayable) {
      return false;
    }
    while (this.components.length <= repetition) {
      this.components.push(['']);
    }
    const components = this.components[repetition] ?? [];
    fill(components, component);
    if (subcomponent === undefined) {
      components[component - 1] = value;
    } else {
      const subcomponents = pieces(components[component - 1] ?? '', subcomponentSeparator);
      fill(subcomponents, subcomponent);
      subcomponents[subcomponent] = value;
      components[component - 1] = subcomponents.join(subcomponentSeparator);
    }
    return true;
  }

  toString(): string {
    return this.components
      .map((components) => components.join(this.context.componentSeparator))
      .join(this.context.repetitionSeparator);
  }
}

function fill(list: string[], length: number): void {
  while (list.length < length) {
    list.push('');
  }
}
