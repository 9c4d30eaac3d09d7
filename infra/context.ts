import { readFileSync } from 'node:fs';
import { fieldsOf } from '../shared/base/values.ts';
import { readStage, type Stage } from './stage.ts';

/** The context of cdk.json, for runs without the CDK command line; the command line's own wins. */
export function projectContext(): Record<string, unknown> {
  const text = readFileSync(new URL('../cdk.json', import.meta.url), 'utf8');
  return fieldsOf(fieldsOf(JSON.parse(text)).context);
}

/** A stage of cdk.json. @throws {Error} naming what is wrong with it */
export function stageNamed(name: string): Stage {
  const context: Record<string, unknown> = { ...projectContext(), stage: name };
  return readStage((key) => context[key]);
}
