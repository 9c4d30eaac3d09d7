import type { SynthesisedFunction } from './read-assembly.ts';
import { variablesOf } from './variables.ts';

/** What SAM needs of a template: every value a text, because it resolves no value of another stack. */
export interface SamTemplate {
  AWSTemplateFormatVersion: '2010-09-09';
  Transform: 'AWS::Serverless-2016-10-31';
  Resources: Record<string, SamFunction>;
}

interface SamFunction {
  Type: 'AWS::Serverless::Function';
  Properties: {
    /** Relative to the template. */
    CodeUri: string;
    Handler: string;
    Runtime: 'nodejs24.x';
    Architectures: ['arm64' | 'x86_64'];
    Timeout: number;
    MemorySize: number;
    Environment: { Variables: Record<string, string> };
  };
}

/** `execute-by-id` → `ExecuteById`: what `sam local invoke` is given. */
export function samName(folder: string): string {
  return folder.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * One template with every function of a synthesised app, once each.
 * @param values what the templates refer to, as on this machine
 */
export function samTemplate(
  functions: readonly SynthesisedFunction[],
  values: Readonly<Record<string, string>>,
  architecture: 'arm64' | 'x86_64',
): SamTemplate {
  const resources = functions.map((one): [string, SamFunction] => [
    samName(one.folder),
    {
      Type: 'AWS::Serverless::Function',
      Properties: {
        ...{ CodeUri: `./${samName(one.folder)}`, Handler: one.handler, Runtime: 'nodejs24.x' },
        Architectures: [architecture],
        Timeout: one.timeoutSeconds,
        MemorySize: one.memoryMb,
        Environment: { Variables: one.folder === 'invoker' ? {} : variablesOf(one, values) },
      },
    },
  ]);
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Transform: 'AWS::Serverless-2016-10-31',
    Resources: Object.fromEntries(resources),
  };
}
