import type { Resource, StackTemplate } from './stage-templates.ts';

/** What of a deployed stack others hold on to. */
export interface Bonds {
  /** The value of each export, by name. */
  exports: Record<string, unknown>;
  /** Names of exports of other stacks. */
  imports: string[];
  /** Logical ids by type and name of what has a name of its own, which the account has once. */
  named: Record<string, string>;
}

/** Properties that are the name of a resource. */
const nameProperties: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::Events::EventBus': 'Name',
  'AWS::IAM::ManagedPolicy': 'ManagedPolicyName',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SQS::Queue': 'QueueName',
};

export function bondsOf({ Resources, Outputs = {} }: StackTemplate): Bonds {
  const exported = Object.values(Outputs).filter((output) => output.Export);
  const imported = JSON.stringify(Resources).matchAll(/"Fn::ImportValue":"([^"]+)"/g);
  const named = Object.entries(Resources).flatMap(([id, resource]) => {
    const name = nameOf(resource);
    return name === undefined ? [] : [[`${resource.Type} ${name}`, id]];
  });
  return {
    exports: Object.fromEntries(exported.map(({ Export, Value }) => [Export?.Name, Value])),
    imports: [...new Set([...imported].map(([, name = '']) => name))].sort(),
    named: Object.fromEntries(named),
  };
}

function nameOf({ Type, Properties = {} }: Resource): string | undefined {
  const name = Properties[nameProperties[Type] ?? ''];
  return typeof name === 'string' ? name : undefined;
}

/**
 * What CloudFormation would refuse of an update. Stacks are updated one after the other: while one changes, those that
 * use it still import what they did. And what has a name of its own is made before its predecessor is deleted. A stack
 * that is no longer made is not touched: whoever destroys it does so later, by hand.
 * @param before,after by stack
 */
export function refusedChanges(
  before: Readonly<Record<string, Bonds>>,
  after: Readonly<Record<string, Bonds>>,
): string[] {
  const used = new Set(Object.values(before).flatMap(({ imports }) => imports));
  return Object.entries(before).flatMap(([stack, { exports, named }]) => {
    const next = after[stack];
    if (!next) return [];
    const changed = Object.entries(exports).filter(
      ([name, value]) => used.has(name) && JSON.stringify(next.exports[name]) !== JSON.stringify(value),
    );
    const moved = Object.entries(named).filter(([name, id]) => {
      const elsewhere = Object.entries(after).find(([, one]) => one.named[name] !== undefined);
      return elsewhere !== undefined && (elsewhere[0] !== stack || elsewhere[1].named[name] !== id);
    });
    return [
      ...changed.map(([name]) => `${stack} cannot change the export ${name}: it is in use`),
      ...moved.map(([name]) => `${stack} has ${name} already`),
    ];
  });
}
