import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { stageNamed } from '../context.ts';
import { functionNameOf, type NamedFunction } from '../stage.ts';
import { settings } from './environment.ts';
import { handlerLoader } from './functions.ts';
import { withStack } from './stack.ts';

/** Invokes a function of operators. @throws {Error} with what it threw */
export type InvokeOperation = <Result>(
  name: Exclude<NamedFunction, 'access-records'>,
  event: object,
) => Promise<Result>;

/** The functions of a deployed stage, in the account that the credentials name; without a stage those of this machine. */
export async function withFunctions<Result>(
  stageName: string | undefined,
  run: (invoke: InvokeOperation) => Promise<Result>,
): Promise<Result> {
  if (stageName !== undefined) {
    const stage = stageNamed(stageName);
    const requestHandler = { requestTimeout: 600_000 };
    const lambda = new LambdaClient({ region: stage.region, maxAttempts: 1, requestHandler });
    return run((name, event) => invokeDeployed(lambda, functionNameOf(stage, name), event));
  }
  return withStack(settings(), () => {
    const load = handlerLoader();
    return run(async <Answer>(name: NamedFunction, event: object) => {
      const handler = (await load(name)) as (event: object) => Promise<unknown>;
      return (await handler(event)) as Answer;
    });
  });
}

/** @throws {Error} with what the function threw */
export async function invokeDeployed<Result>(lambda: LambdaClient, name: string, event: object) {
  const invoked = new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) });
  const { Payload, FunctionError } = await lambda.send(invoked);
  const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as { errorMessage?: string };
  if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
  return result as Result;
}
