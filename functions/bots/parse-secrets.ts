import type { BotSecret } from '../../shared/bot/contract.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';

const mostSecrets = 100;
const longestValue = 8192;
/** All of a holder's fit one item, sealed. */
const mostBytes = 256 * 1024;

const values = {
  valueString: (value: unknown) => typeof value === 'string' && value.length <= longestValue,
  valueBoolean: (value: unknown) => typeof value === 'boolean',
  valueInteger: (value: unknown) => Number.isSafeInteger(value),
  valueDecimal: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
} as const;
type ValueName = keyof typeof values;

/** Of each secret its new value; one without a value is kept as it is. */
export type NamedSecret = Pick<BotSecret, 'name'> & { secret: BotSecret | undefined };

/** The whole list of a holder's secrets, as clients of this field send it. @throws {Refusal} invalid */
export function parseSecrets(body: unknown): NamedSecret[] {
  if (!Array.isArray(body))
    throw new Refusal('invalid', 'The body must be an array of {name, valueString} and the like');
  if (body.length > mostSecrets) throw new Refusal('invalid', `There are at most ${mostSecrets} secrets`);
  const issues: RefusalIssue[] = [];
  const names = new Set<string>();
  const secrets = body.map((one: unknown, i): NamedSecret => {
    const fields = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
    const refuse = (element: string, text: string) => issues.push({ expression: `[${i}].${element}`, text });
    const name = String(fields.name);
    if (typeof fields.name !== 'string' || !/^[A-Za-z0-9][\w.-]{0,99}$/.test(name))
      refuse('name', 'A name is up to 100 letters, digits, _, - and ., and begins with a letter or digit');
    if (names.has(name)) refuse('name', `${name} is there twice`);
    names.add(name);
    const given = (Object.keys(values) as ValueName[]).filter((key) => fields[key] != null);
    const [key] = given;
    if (!key) return { name, secret: undefined };
    if (given.length > 1) refuse('value', 'A secret has one value');
    if (!values[key](fields[key])) refuse(key, `${key} is not valid, or longer than ${longestValue}`);
    return { name, secret: { name, [key]: fields[key] } as BotSecret };
  });
  if (issues.length > 0) throw new Refusal('invalid', 'The secrets are not valid', { issues });
  if (Buffer.byteLength(JSON.stringify(secrets)) > mostBytes)
    throw new Refusal('too-large', `All secrets together are at most ${mostBytes / 1024} KB`);
  return secrets;
}
