import { invalidField, Refusal } from '../base/refusal.ts';
import { fieldsOf } from '../base/values.ts';
import { allOk, type OperationOutcome, refusalOutcome } from '../carry/http/response.ts';
import type { Services } from '../carry/services.ts';
import type { Caller } from '../identity/gate/access-token.ts';
import { admit } from '../identity/gate/actor.ts';
import { requireResource, requireSameId } from './write/parse-resource.ts';
import { nextState } from './write/plan.ts';

interface Input {
  type: string;
  /** Of the resource that it is to be the next state of. */
  id?: string;
  /** The resource, or Parameters that hold it. */
  body: unknown;
}

/**
 * R4 operation $validate: what would be said of the resource if it were written; nothing is.
 * @returns an outcome without errors, or one with an issue per fault
 * @throws {Refusal} invalid when there is nothing to validate
 */
export async function validateResource(
  services: Services,
  caller: Caller,
  { type, id, body }: Input,
): Promise<OperationOutcome> {
  await admit(services, caller, []);
  const sent = requireResource(resourceIn(body), type);
  const stamp = {
    project: caller.project,
    nowMs: services.now(),
    author: { reference: caller.profile },
    newId: services.newId,
  };
  try {
    if (id !== undefined) requireSameId(sent, id);
    await nextState(sent, id ?? services.newId(), stamp, undefined);
    return allOk();
  } catch (error) {
    if (error instanceof Refusal && findings.has(error.kind)) return refusalOutcome(error);
    throw error;
  }
}

const findings = new Set<Refusal['kind']>(['invalid', 'unprocessable', 'too-costly', 'too-large']);

function resourceIn(body: unknown): unknown {
  const { resourceType, parameter } = fieldsOf(body);
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) return body;
  const named = new Map(parameter.map((one) => [one?.name, one] as const));
  if (named.has('profile'))
    throw invalidField('profile', 'Only the definitions of R4 itself can be asked for');
  return named.get('resource')?.resource;
}
