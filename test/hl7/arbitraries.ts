import { Hl7Context } from '../../shared/bots/hl7/text.ts';
import fc from '../setup/fast-check.ts';

const CHARACTERS = [...'|^~\\&#*+!%$@;:?/=<>_-.,[](){}'];

/** Four to six different separators: the field separator, then MSH-2 with or without the truncation character. */
export const contexts = fc
  .shuffledSubarray(CHARACTERS, { minLength: 5, maxLength: 6 })
  .map(
    ([
      field = '|',
      component = '^',
      repetition = '~',
      escapeCharacter = '\\',
      subcomponent = '&',
      truncation,
    ]) => new Hl7Context('\r', field, component, repetition, escapeCharacter, subcomponent, truncation),
  );

const names = fc
  .stringMatching(/^[A-Z][A-Z0-9]{2}$/)
  .filter((name) => !/^(?:MSH|FHS|BHS|BTS|FTS)$/.test(name));

/** Plain values: segments of fields of repetitions of components of subcomponents. */
const values = fc.array(
  fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

export const segments = fc.array(fc.tuple(names, fc.array(values, { maxLength: 5 })), { maxLength: 6 });
