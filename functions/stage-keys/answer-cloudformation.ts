import { errorText } from '../../shared/error-name.ts';

/** What it sends for a custom resource, as far as it is answered. */
interface CustomResourceEvent {
  RequestType: 'Create' | 'Update' | 'Delete';
  ResponseURL: string;
  StackId: string;
  RequestId: string;
  LogicalResourceId: string;
}

/**
 * Tells CloudFormation how a custom resource went: it waits for this and not for what the function returns.
 * @param work what is to be done when the resource is made or changed; nothing is when it is removed
 */
export async function answerCloudFormation(
  event: CustomResourceEvent,
  work: () => Promise<unknown>,
): Promise<void> {
  const { RequestType, ResponseURL, StackId, RequestId, LogicalResourceId } = event;
  const failure = RequestType === 'Delete' ? undefined : await work().then(() => undefined, errorText);
  const answer = {
    ...(failure === undefined ? { Status: 'SUCCESS' } : { Status: 'FAILED', Reason: failure }),
    ...{ StackId, RequestId, LogicalResourceId, PhysicalResourceId: LogicalResourceId },
  };
  const { ok, status } = await fetch(ResponseURL, { method: 'PUT', body: JSON.stringify(answer) });
  if (!ok) throw new Error(`CloudFormation did not take the answer: ${status}`);
}
