import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Server } from 'node:net';

const require = createRequire(import.meta.url);

/** As far as it is used here: npm `simple-hl7` 3.3.0 has no types. */
interface SimpleMessage {
  header: { getField(index: number): unknown };
  getSegment(name: string): {
    getField(index: number): unknown;
    setField(index: number, value: string): void;
  };
  toString(): string;
}
interface SimpleHl7 {
  Parser: new (options: { segmentSeperator: string }) => { parse(text: string): SimpleMessage };
  Server: {
    createTcpClient(options: { host: string; port: number; keepalive: boolean }): {
      send(message: SimpleMessage, callback: (error: Error | null, ack: SimpleMessage) => void): void;
      close(): void;
    };
  };
  tcp(): {
    use(handle: (request: { msg: SimpleMessage }, response: SimpleResponse, next: () => void) => void): void;
    start(port: number): { server: Server };
    stop(): void;
  };
}
interface SimpleResponse {
  ack: SimpleMessage;
  end(): void;
}

// biome-ignore lint/correctness/noUnresolvedImports: its package.json names a folder as main
const simple = require('simple-hl7') as SimpleHl7;

/** Sends with simple-hl7. @returns MSA-1 and MSA-2 */
export function simpleSender(port: number) {
  const client = simple.Server.createTcpClient({ host: '127.0.0.1', port, keepalive: true });
  const parser = new simple.Parser({ segmentSeperator: '\r' });
  return {
    send: (text: string) =>
      new Promise<string[]>((resolve, reject) => {
        client.send(parser.parse(text), (error, ack) => {
          if (error) return reject(error);
          const msa = ack.getSegment('MSA');
          resolve([String(msa.getField(1)), String(msa.getField(2))]);
        });
      }),
    close: () => client.close(),
  };
}

/** Receives with simple-hl7. @param codes of its answers, one after the other; the last one stays */
export async function simpleReceiver(codes: string[]) {
  const received: string[] = [];
  const app = simple.tcp();
  app.use(({ msg }, response) => {
    received.push(msg.toString());
    const [code = 'AA'] = codes.length > 1 ? codes.splice(0, 1) : codes;
    response.ack.getSegment('MSA').setField(1, code);
    response.end();
  });
  const { server } = app.start(0);
  if (!server.listening) await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('No port');
  return { port: address.port, received, stop: () => app.stop() };
}
