import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listen, stopListening } from './loopback.ts';

/** A mail as it was received. */
export interface StoredMail {
  id: string;
  receivedAt: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  configurationSet?: string;
}

/** How the service misbehaves, for tests. */
export type MailFault = 'none' | 'down' | 'throttled';

export interface Mailbox {
  /** Of the SES v2 API. */
  endpoint: string;
  /** Oldest first. */
  list(): Promise<StoredMail[]>;
  fail(fault: MailFault): void;
  stop(): Promise<void>;
}

interface SendEmail {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: string[] };
  Content?: {
    Simple?: { Subject?: { Data?: string }; Body?: { Text?: { Data?: string }; Html?: { Data?: string } } };
  };
  ConfigurationSetName?: string;
}

/** Receives what SES v2 would (SendEmail) and keeps each mail as a file in `folder`. */
export async function startMailbox(folder: string): Promise<Mailbox> {
  await mkdir(folder, { recursive: true });
  let fault: MailFault = 'none';

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (fault === 'throttled')
      return answer(response, 429, { message: 'Rate exceeded' }, 'TooManyRequestsException');
    if (fault === 'down')
      return answer(response, 503, { message: 'Service unavailable' }, 'ServiceUnavailable');
    if (request.url !== '/v2/email/outbound-emails') return answer(response, 404, {}, 'NotFoundException');
    const id = await store(folder, JSON.parse(Buffer.concat(chunks).toString('utf8')) as SendEmail);
    answer(response, 200, { MessageId: id });
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => answer(response, 400, {}, 'BadRequestException'));
  });
  const port = await listen(server, 0);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    list: () => listMails(folder),
    fail(next) {
      fault = next;
    },
    stop: () => stopListening(server),
  };
}

/** Named by time, so that a folder listing is in order; renamed into place, so that none is half. */
async function store(folder: string, sent: SendEmail): Promise<string> {
  const receivedAt = new Date().toISOString();
  const id = `${receivedAt.replace(/[:.]/g, '-')}-${randomUUID()}`;
  const simple = sent.Content?.Simple;
  const mail: StoredMail = {
    id,
    receivedAt,
    from: sent.FromEmailAddress ?? '',
    to: sent.Destination?.ToAddresses ?? [],
    subject: simple?.Subject?.Data ?? '',
    text: simple?.Body?.Text?.Data ?? '',
    html: simple?.Body?.Html?.Data ?? '',
    ...(sent.ConfigurationSetName ? { configurationSet: sent.ConfigurationSetName } : {}),
  };
  await writeFile(join(folder, `${id}.part`), JSON.stringify(mail, null, 2), { mode: 0o600 });
  await rename(join(folder, `${id}.part`), join(folder, `${id}.json`));
  return id;
}

async function listMails(folder: string): Promise<StoredMail[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as StoredMail),
  );
}

function answer(response: ServerResponse, status: number, body: object, errorType?: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(errorType ? { 'x-amzn-errortype': errorType } : {}),
  });
  response.end(JSON.stringify(body));
}
