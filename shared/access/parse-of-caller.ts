import type { GenericSchema, InferOutput } from 'valibot';
import { Refusal } from '../refusal.ts';
import { check } from '../schema/check.ts';
import type { Services } from '../services.ts';
import type { Caller } from './access-token.ts';
import { admit } from './actor.ts';

/**
 * A body that has to be read before the caller is admitted, because it says what else to read. Who may
 * not call at all is told that, and not what is wrong with the body.
 * @throws {Refusal} invalid, with one issue a field; what `admit` throws
 */
export async function parseOfCaller<const Schema extends GenericSchema>(
  services: Services,
  caller: Caller,
  schema: Schema,
  body: unknown,
): Promise<InferOutput<Schema>> {
  const checked = check(schema, body);
  if (!checked.issues) return checked.output;
  await admit(services, caller, []);
  throw new Refusal('invalid', 'The body is not valid', { issues: checked.issues });
}
