import type { DynamoDBRecord } from 'aws-lambda';
import { createExchanger } from '../../../shared/aws/wire/exchange.ts';
import { createSigner } from '../../../shared/aws/wire/signature.ts';
import { clientOptions } from '../environment.ts';

interface StreamPage {
  /** As the engine tells them: bytes are base64, as Lambda has them. */
  records: DynamoDBRecord[];
  /** Undefined at the end of a closed shard. */
  next: string | undefined;
}

export interface StreamReader {
  read(iterator: string, most: number): Promise<StreamPage>;
  close(): void;
}

/**
 * GetRecords of a local engine, twenty times a second: what Lambda's event source mapping does is not to weigh on
 * what is measured here, so nothing is unpacked that Lambda would pack again.
 */
export function streamReader(endpoint: string): StreamReader {
  const { protocol, hostname, port, host } = new URL(endpoint);
  const exchanger = createExchanger();
  const sign = createSigner('dynamodb', clientOptions.region);
  return {
    async read(iterator, most) {
      const body = Buffer.from(JSON.stringify({ ShardIterator: iterator, Limit: most }));
      const headers = {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDBStreams_20120810.GetRecords',
      };
      const request = { method: 'POST', path: '/', headers, body };
      const signature = sign(request, clientOptions.credentials, Date.now());
      const answer = await exchanger.send({
        ...{ ...request, protocol, hostname, port },
        headers: { ...headers, ...signature, 'content-length': String(body.length) },
      });
      const text = answer.body.toString('utf8');
      if (answer.statusCode >= 300) throw new Error(`GetRecords: ${answer.statusCode} ${text.slice(0, 200)}`);
      const said = JSON.parse(text) as { Records?: DynamoDBRecord[]; NextShardIterator?: string };
      return { records: said.Records ?? [], next: said.NextShardIterator };
    },
    close: () => exchanger.close(),
  };
}
