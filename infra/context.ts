import { readFileSync } from 'node:fs';
import { fieldsOf } from '../shared/fields-of.ts';

/** The context of cdk.json, for runs without the CDK command line; the command line's own wins. */
export function projectContext(): Record<string, unknown> {
  const text = readFileSync(new URL('../cdk.json', import.meta.url), 'utf8');
  return fieldsOf(fieldsOf(JSON.parse(text)).context);
}
