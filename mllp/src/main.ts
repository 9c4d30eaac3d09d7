#!/usr/bin/env node

import { createReadStream } from 'node:fs';
import { errorCode, errorText } from '../../shared/base/values.ts';
import packageJson from '../package.json' with { type: 'json' };
import { jsonLog } from './observe.ts';
import { NotMessages, sendMessages, splitMessages } from './send/send-messages.ts';
import { check, serve } from './serve.ts';
import { type Command, parseCommandLine } from './settings/command-line.ts';
import { readSecret, SettingsError } from './settings/fields.ts';
import type { ServeSettings } from './settings/settings.ts';

const help = `portico-mllp: HL7 v2 over MLLP for a Portico service

Receive: every message runs a Bot, and is acknowledged when that has answered.
  portico-mllp --listen [host:]port --service https://… --client-id <id> --bot <id or system|value>
  portico-mllp --config <file> [--check]

  --client-secret-file <file>   else the environment's PORTICO_CLIENT_SECRET
  --allow <address or network>  who may connect; again for each, or separated by commas
  --tls-cert, --tls-key <file>  TLS; with --tls-ca <file> senders must show a certificate of it
  --acknowledge original        one acknowledgement, whatever MSH-15 and MSH-16 say
  --timeout <seconds>           from a message to its acknowledgement (30)
  --idle-timeout <seconds>      a connection without messages is closed (3600)
  --max-connections <number>    (256)
  --concurrency <number>        requests to the service at once (16)
  --peer-share <percent>        of connections and requests for one peer (75)
  --health-port <port>          /healthz and /metrics on 127.0.0.1
  --check                       try settings, certificates and sign-in, then end

Send: files or standard input, one message after the other, each until it is accepted.
  portico-mllp --send host:port [file…]

  --tls, --tls-ca, --tls-cert, --tls-key   TLS to the receiver
  --timeout <seconds>                      for each acknowledgement (30)
  --attempts <number>                      for each message (5)

Ends with 0 when all is well, 1 when something was not accepted or failed, 2 for wrong arguments.
`;

const print = (text: string) => process.stdout.write(text);
const complain = (text: string) => process.stderr.write(`${text}\n`);
const secretFromEnvironment = process.env.PORTICO_CLIENT_SECRET;

try {
  process.exitCode = await run(parseCommandLine(process.argv.slice(2), process.cwd()));
} catch (error) {
  const isTheirs =
    error instanceof SettingsError || error instanceof NotMessages || errorCode(error) !== undefined;
  complain(isTheirs ? errorText(error) : String(error instanceof Error ? error.stack : error));
  process.exitCode = error instanceof SettingsError ? 2 : 1;
}

async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      print(help);
      return 0;
    case 'version':
      print(`${packageJson.version}\n`);
      return 0;
    case 'check': {
      const { settings } = command;
      return (await check(settings, secretOf(settings), (line) => print(`${line}\n`))) ? 0 : 1;
    }
    case 'send': {
      const input = command.files.length > 0 ? concatenated(command.files) : process.stdin;
      const log = jsonLog((line) => process.stderr.write(line));
      return (await sendMessages(splitMessages(input), command.settings, printAck, log)) ? 0 : 1;
    }
    case 'serve':
      return serveUntilSignal(command.settings);
  }
}

/** SIGTERM and SIGINT let what has come be answered; the second one does not wait for it. */
async function serveUntilSignal(settings: ServeSettings): Promise<number> {
  const secret = secretOf(settings);
  await secret();
  const log = jsonLog(print);
  const running = await serve(settings, secret, log);
  log('info', 'started', { ports: running.ports.join(), healthPort: running.healthPort });
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // With its listener gone, the second one ends the process.
    process.once(signal, () => resolve());
  }
  await promise;
  log('info', 'stopping');
  await running.stop();
  log('info', 'stopped');
  // A request whose answer nobody waits for any more, as for a token, would hold the process.
  process.exit(0);
}

function secretOf({ clientSecretFile }: ServeSettings): () => Promise<string> {
  return () => readSecret(clientSecretFile, secretFromEnvironment);
}

/** One after the other; a message ends with its file. */
async function* concatenated(files: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield* file === '-' ? process.stdin : createReadStream(file);
    yield Buffer.from('\v');
  }
}

/** Segments on lines of their own, as people read them. */
function printAck(ack: Buffer): void {
  process.stdout.write(Buffer.from(ack.toString('latin1').replace(/\r\n?/g, '\n').trimEnd(), 'latin1'));
  process.stdout.write('\n');
}
