import { fieldsOf } from '../../fields-of.ts';
import { parsePolicy } from '../parse-policy.ts';
import { ruleWords, type Statement, type Whom } from './rule-words.ts';

/** A statement, and which entry of the policy says so, counted from 0. */
export interface EntryStatement extends Statement {
  entry: number;
}

/**
 * A policy in plain words: a sentence for each entry, in their order. What no sentence grants is refused.
 * Pure: used by the service and the administration app alike.
 */
export function policyWords(policy: object, whom: Whom): EntryStatement[] {
  const { resource = [], ...others } = fieldsOf(policy);
  if (!Array.isArray(resource)) return [];
  return resource.map((one, entry) => {
    let fault: string | undefined;
    const [rule] = parsePolicy({ ...others, resource: [one] }, (_expression, text) => {
      fault ??= text;
    });
    const resourceType = String(one?.resourceType ?? '');
    const statement: Statement = rule
      ? ruleWords(rule, whom)
      : { resourceType, interactions: [], text: `Grants nothing: ${fault ?? 'it cannot be understood'}.` };
    return { ...statement, entry };
  });
}
