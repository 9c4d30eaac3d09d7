#!/usr/bin/env node

import { createReadStream } from 'node:fs';
import { errorCode, errorText } from '../../shared/base/values.ts';
import { help, version } from './help.ts';
import { jsonLog } from './observe.ts';
import { sendMessages } from './send/send-messages.ts';
import { NotMessages, splitMessages } from './send/split-messages.ts';
import { check, serve } from './serve.ts';
import { type Command, parseCommandLine } from './settings/command-line.ts';
import { readSecret, SettingsError } from './settings/fields.ts';
import type { ServeSettings } from './settings/settings.ts';

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
      print(`${version}\n`);
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
