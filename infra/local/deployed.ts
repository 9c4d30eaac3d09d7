import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { stageNamed } from '../context.ts';
import type { Stage } from '../stage.ts';

/**
 * Invokes functions of a deployed stage by their names, in the account that the credentials name.
 * @throws {Error} with what the function threw
 */
export function deployedFunctions(stageName: string) {
  const stage = stageNamed(stageName);
  const requestHandler = { requestTimeout: 600_000 };
  const lambda = new LambdaClient({ region: stage.region, maxAttempts: 1, requestHandler });
  return async <Result>(nameOf: (of: Stage) => string, event: object): Promise<Result> => {
    const { Payload, FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: nameOf(stage), Payload: JSON.stringify(event) }),
    );
    const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as { errorMessage?: string };
    if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
    return result as Result;
  };
}
