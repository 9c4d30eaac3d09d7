import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** The second argument of a handler, as Lambda's Node runtime makes it. */
export function lambdaContext(functionName: string, timeoutMs: number, startedAtMs = Date.now()): Context {
  const notCallback = () => {
    throw new Error('nodejs24.x has no callbacks');
  };
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:eu-west-1:000000000000:function:${functionName}`,
    memoryLimitInMB: '1024',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, startedAtMs + timeoutMs - Date.now()),
    done: notCallback,
    fail: notCallback,
    succeed: notCallback,
  };
}

/** Lambda takes and gives this many bytes of JSON in one synchronous invocation. */
export const longestPayloadBytes = 6_291_556;
