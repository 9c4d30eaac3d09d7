import { createSecureContext } from 'node:tls';
import { Gate } from '../../shared/base/gate.ts';
import { errorCode, errorText } from '../../shared/base/values.ts';
import { type FeedLog, type HealthServer, newMetrics, serveHealth } from './observe.ts';
import { type Listener, startListener } from './receive/listener.ts';
import { LargeFrames, type Receiver } from './receive/receiver.ts';
import { clientTokens, judge, keepFresh, NoToken } from './service/judge.ts';
import { connectService } from './service/service.ts';
import { isReadByAll, readTlsFiles } from './settings/fields.ts';
import { type ServeSettings, shareOf } from './settings/settings.ts';

/** 64 MiB of frames over 64 KiB, whatever the number of connections. */
const largeFrames = 16;

/**
 * The program that receives, in this process.
 * @throws {Error} when an address is in use or a certificate cannot be read: nothing is left open
 */
export async function serve(settings: ServeSettings, readSecret: () => Promise<string>, log: FeedLog) {
  const metrics = newMetrics();
  const { service, clientId, timeoutMs, concurrency, peerShare, healthPort } = settings;
  const gate = (places: number) => new Gate(places, shareOf(places, peerShare));
  const tokens = clientTokens({ service, clientId, readSecret });
  const stopping = new AbortController();
  const receiver: Receiver = {
    service: connectService(service, tokens, gate(concurrency)),
    log,
    metrics,
    timeoutMs,
    peerShare,
    largeFrames: new LargeFrames(gate(largeFrames)),
    stopping: stopping.signal,
  };
  let endFresh = () => {};
  let health: HealthServer | undefined;
  const listeners: Listener[] = [];
  /** Takes no more messages, answers those that have come whole, then closes everything. */
  const stop = async () => {
    stopping.abort();
    endFresh();
    await Promise.all(listeners.map((listener) => listener.stop()));
    await health?.stop();
  };
  try {
    if (healthPort !== undefined)
      health = await serveHealth(healthPort, () => stopping.signal.aborted, metrics);
    for (const one of settings.listeners) {
      const listener = await startListener(receiver, one);
      listeners.push(listener);
      log('info', 'listening', { listener: listener.name, tls: one.tls !== undefined });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  let last: string | undefined = '';
  endFresh = keepFresh(tokens, (error) => {
    metrics.set('signed_in', error ? 0 : 1);
    const reason = error && judge(error, false).text;
    if (reason === last) return;
    last = reason;
    if (reason === undefined) log('info', 'signed-in', { service, clientId });
    else log('error', 'no-token', { service, clientId, reason });
  });
  return { ports: listeners.map(({ port }) => port), healthPort: health?.port, stop };
}

/**
 * Tries what the settings name without listening: certificates, secret, a token.
 * @param say a line for each
 * @returns whether all of it is good
 */
export async function check(
  settings: ServeSettings,
  readSecret: () => Promise<string>,
  say: (line: string) => void,
): Promise<boolean> {
  const { service, clientId, clientSecretFile, listeners } = settings;
  let isGood = true;
  const attempt = async (what: string, does: () => Promise<unknown>) => {
    try {
      await does();
      say(`ok      ${what}`);
    } catch (error) {
      isGood = false;
      say(
        `failed  ${what}: ${error instanceof NoToken ? judge(error, false).text : (errorCode(error) ?? errorText(error))}`,
      );
    }
  };
  for (const { address, tls } of listeners) {
    const name = `${address.host}:${address.port}`;
    if (tls) {
      await attempt(`certificates of ${name}`, async () => createSecureContext(await readTlsFiles(tls)));
    }
  }
  if (clientSecretFile !== undefined && (await isReadByAll(clientSecretFile).catch(() => false))) {
    say(`warning ${clientSecretFile} can be read by everybody on this machine`);
  }
  await attempt(`access token for ${clientId} from ${service}`, () =>
    clientTokens({ service, clientId, readSecret }).get(),
  );
  return isGood;
}
