import { type Listening, listen, readBody } from '../gateway/listen.ts';
import { accessesOf, isAllowed, type Statement } from './role.ts';

/** A request of DynamoDB may be 16 MB. */
const longestRequestBytes = 17 * 1024 * 1024;

/**
 * A way to the table for one function, which refuses as IAM would what the function's role does not allow.
 * @param onRefused is told what was asked for
 */
export function guardTable(
  endpoint: string,
  statements: readonly Statement[],
  onRefused: (asked: string) => void,
): Promise<Listening> {
  return listen(0, async (request, response) => {
    const body = (await readBody(request, longestRequestBytes)) ?? Buffer.alloc(0);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const refused = accessesOf(operation, JSON.parse(body.toString('utf8'))).find(
      (asked) => !isAllowed(statements, asked),
    );
    if (refused) {
      const asked = `${refused.action} on ${refused.partitions?.join(', ') ?? 'the table'}`;
      onRefused(asked);
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      const type = 'com.amazon.coral.service#AccessDeniedException';
      response.end(JSON.stringify({ __type: type, message: `not authorized to perform: ${asked}` }));
      return;
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const answer = await fetch(endpoint, { method: 'POST', headers: headers as never, body: body as never });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
}
