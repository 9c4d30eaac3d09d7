import type { Parameter } from '../../index/registry.ts';

/** Modifiers by the type of parameter; beside them `:missing` for all, and `:Type` for references (R4 search). */
export const modifiers = {
  token: ['not', 'text'],
  string: ['exact', 'contains'],
  reference: ['identifier'],
  uri: ['below', 'above'],
  date: [],
  number: [],
  quantity: [],
  composite: [],
} as const satisfies Record<Parameter['type'], readonly string[]>;

export type ModifierOf<T extends Parameter['type']> = (typeof modifiers)[T][number];
export type Modifier = ModifierOf<Parameter['type']>;
