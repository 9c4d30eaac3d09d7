import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Systems give ports above to whoever asks for any and to whoever connects, Linux from 32,768 on and others from
 * 49,152: a port below stays free until it is used, also while a process that was killed starts again.
 */
const places = { from: 12_000, below: 32_768 };

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(places.from, places.below);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
