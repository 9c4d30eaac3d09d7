import { readFileSync } from 'node:fs';

/** The context of cdk.json, for runs without the CDK command line; the command line's own wins. */
export function projectContext(): Record<string, unknown> {
  const text = readFileSync(new URL('../cdk.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { context: Record<string, unknown> }).context;
}
