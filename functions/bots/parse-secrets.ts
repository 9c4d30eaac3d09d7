import { array, finite, maxLength, number, pipe, regex, safeInteger, string } from 'valibot';
import type { BotSecret } from '../../shared/bot/contract.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import { check } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { flag } from '../../shared/schema/values.ts';
import { typedKeys } from '../../shared/typed-keys.ts';

const mostSecrets = 100;
const longestValue = 8192;
/** All of a holder's fit one item, sealed. */
const mostBytes = 256 * 1024;

const nameText = 'A name is up to 100 letters, digits, _, - and ., and begins with a letter or digit';
const wrong = (name: string) => `${name} is not valid, or longer than ${longestValue}`;

/** The value of a secret, by what kind of value it is. */
const values = {
  valueString: optional(pipe(string(wrong('valueString')), maxLength(longestValue, wrong('valueString')))),
  valueBoolean: optional(flag('valueBoolean')),
  valueInteger: optional(pipe(number(wrong('valueInteger')), safeInteger(wrong('valueInteger')))),
  valueDecimal: optional(pipe(number(wrong('valueDecimal')), finite(wrong('valueDecimal')))),
} satisfies Record<Exclude<keyof BotSecret, 'name'>, unknown>;

const listText = 'The body must be an array of {name, valueString} and the like';

export const secretsBody = pipe(
  array(
    fields(
      { name: pipe(string(nameText), regex(/^[A-Za-z0-9][\w.-]{0,99}$/, nameText)), ...values },
      nameText,
    ),
    listText,
  ),
  maxLength(mostSecrets, `There are at most ${mostSecrets} secrets`),
);

/** Of each secret its new value; one without a value is kept as it is. */
export type NamedSecret = Pick<BotSecret, 'name'> & { secret: BotSecret | undefined };

/** The whole list of a holder's secrets, as clients of this field send it. @throws {Refusal} invalid */
export function parseSecrets(body: unknown): NamedSecret[] {
  const { output = [], issues = [] } = check(secretsBody, body);
  const kinds = output.map((sent) => typedKeys(values).filter((kind) => sent[kind] !== undefined));
  const names = output.map(({ name }) => name);
  const all: RefusalIssue[] = [
    ...issues,
    ...names.flatMap((name, i) =>
      names.indexOf(name) < i ? [{ expression: `[${i}].name`, text: `${name} is there twice` }] : [],
    ),
    ...kinds.flatMap((of, i) =>
      of.length > 1 ? [{ expression: `[${i}].value`, text: 'A secret has one value' }] : [],
    ),
  ];
  if (all.length > 0) throw new Refusal('invalid', 'The secrets are not valid', { issues: all });
  const secrets = output.map(({ name, ...sent }, i): NamedSecret => {
    const [kind] = kinds[i] ?? [];
    return { name, secret: kind && { name, [kind]: sent[kind] } };
  });
  if (Buffer.byteLength(JSON.stringify(secrets)) > mostBytes)
    throw new Refusal('too-large', `All secrets together are at most ${mostBytes / 1024} KB`);
  return secrets;
}
