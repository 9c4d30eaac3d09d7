/**
 * What rule packs find in this house and why it stands. Each rule has one reason wherever it is found; the packs
 * HIPAA.Security and NIST.800.53.R5 hold many rules alike.
 */

export interface Finding {
  id: string;
  reason: string;
}

/** The same rule in the packs that follow a standard. */
export function inBoth(rule: string, reason: string): Finding[] {
  return ['HIPAA.Security', 'NIST.800.53.R5'].map((pack) => ({ id: `${pack}-${rule}`, reason }));
}

const deadLetters =
  'Nobody but a caller who waits, a queue, the stream or a schedule invokes it. The caller is told; the queue has ' +
  'dead letters and the stream a bucket; a schedule comes again. Jobs have a destination for failures of their own.';

/** Found in every function. */
export const functionFindings: readonly Finding[] = [
  ...inBoth(
    'IAMNoInlinePolicy',
    'A role is one function’s and its policy is made of one row of infra/permissions.ts. As a managed policy it ' +
      'could be attached to another role.',
  ),
  ...inBoth(
    'LambdaConcurrency',
    'A new account has ten concurrent executions and none of them may be reserved; with 400 and more, sign-in, tokens, ' +
      'members and who starts Bots have shares (accountConcurrency). Throttles of routes and the limits of each ' +
      'Project bound what callers start.',
  ),
  ...inBoth('LambdaDLQ', deadLetters),
  { id: 'Serverless-LambdaDLQ', reason: deadLetters },
  ...inBoth(
    'LambdaInsideVPC',
    'It has nothing in a VPC to reach: AWS’s services are called over TLS and each call is authorised by IAM. ' +
      'docs/decisions/0012 weighs it.',
  ),
  {
    id: 'Serverless-LambdaTracing',
    reason:
      'X-Ray is the stage’s to choose (tracing), and never in the invokers, where customers’ code runs. Requests are ' +
      'followed by the trace id that every log entry and answer has, calls of Bots included.',
  },
];

/** Found in queues of what could not be handed on. */
export const deadLetterFindings: readonly Finding[] = [
  'AwsSolutions-SQS3',
  'Serverless-SQSRedrivePolicy',
].map((id) => ({
  id,
  reason: 'This is the queue for what failed; nothing consumes it that could fail again.',
}));

/** Found where a queue feeds a function. */
export const mappingFindings: readonly Finding[] = [
  {
    id: 'Serverless-LambdaEventSourceMappingDestination',
    reason:
      'SQS has no such destination: the queue itself keeps what failed, and hands it to its dead letters.',
  },
];

/** Found in rules that come again. */
export const scheduleFindings: readonly Finding[] = [
  {
    id: 'Serverless-EventBusDLQ',
    reason: 'The event says only that it is time, and the next one does the work of one that was lost.',
  },
];
