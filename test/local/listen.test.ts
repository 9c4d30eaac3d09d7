import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { listen } from '../../infra/local/gateway/listen.ts';

test('a request that comes on an open connection while the server stops is answered like one before it', async () => {
  const first = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let requests = 0;
  const server = await listen(0, (_request, response) => {
    requests += 1;
    if (requests > 1) response.end('second');
    else void held.promise.then(() => response.end('first'));
    first.resolve();
  });
  const socket = connect(server.port, '127.0.0.1');
  const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk;
  });
  socket.write(request);
  await first.promise;
  const stopped = server.stop();
  socket.write(request);
  // Nothing says when the second one has been read, but that the server still ends when it has.
  held.resolve();
  await once(socket, 'close');
  await stopped;
  expect(answers).toMatch(/first[\s\S]*second/);
});
