import { createExchanger } from '../../../shared/aws/wire/exchange.ts';
import { type Listening, listen, readBody } from '../gateway/listen.ts';
import { accessesOf, isAllowed, type Statement } from './role.ts';

/** A request of DynamoDB may be 16 MB. */
const longestRequestBytes = 17 * 1024 * 1024;

/**
 * A way to the table for one function, which refuses as IAM would what the function's role does not allow.
 * @param onRefused is told what was asked for
 */
export async function guardTable(
  endpoint: string,
  statements: readonly Statement[],
  onRefused: (asked: string) => void,
): Promise<Listening> {
  const { protocol, hostname, port } = new URL(endpoint);
  const exchanger = createExchanger();
  const { stop, ...listening } = await listen(0, async (request, response) => {
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
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    try {
      const exchange = { protocol, hostname, port, method: 'POST', path: '/', headers, body };
      const answer = await exchanger.send(exchange);
      response.writeHead(answer.statusCode, {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': answer.body.length,
      });
      response.end(answer.body);
    } catch {
      // An engine that is gone looks so to the function too, which repeats the call.
      response.destroy();
    }
  });
  return {
    ...listening,
    async stop() {
      await stop();
      exchanger.close();
    },
  };
}
