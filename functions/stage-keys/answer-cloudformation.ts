import { errorText } from '../../shared/base/values.ts';

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
    ...(failure === undefined ? { Status: 'SUCCESS' } : { Status: 'FAILED', Reason: reasonOf(failure) }),
    ...{ StackId, RequestId, LogicalResourceId, PhysicalResourceId: LogicalResourceId },
  };
  // As bytes, so that no Content-Type is sent: the signature of the URL may be one of a request without it.
  const body = Buffer.from(JSON.stringify(answer));
  const { ok, status } = await fetch(ResponseURL, { method: 'PUT', body });
  if (!ok) throw new Error(`CloudFormation did not take the answer: ${status}`);
}

/** CloudFormation takes 4,096 bytes in all, and no failure without a reason. */
function reasonOf(failure: string): string {
  return failure.slice(0, 1_000) || 'It failed without a word: see the log of the function';
}
