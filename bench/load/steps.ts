import { randomUUID } from 'node:crypto';
import type { Answered, HttpClient } from './http-client.ts';

export interface Caller {
  http: HttpClient;
  /** Without a closing slash. */
  baseUrl: string;
  /** Of access. */
  token: string;
}

/** @returns an access token of a client. @throws {Error} saying status and text when there is none */
export async function signIn({ http, baseUrl }: Caller, id: string, secret: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await http.post({ url: new URL(`${baseUrl}/oauth2/token`), headers, body });
  const { access_token } = JSON.parse(expectStatus(answer, 200)) as { access_token: string };
  return access_token;
}

/** An authorised POST. @throws {Error} unless the answer has the status */
export async function post(
  { http, baseUrl, token }: Caller,
  path: string,
  body: string,
  { contentType = 'application/json', status = 200 } = {},
): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
  return expectStatus(await http.post({ url: new URL(`${baseUrl}/${path}`), headers, body }), status);
}

export function execute(
  caller: Caller,
  bot: { id: string } | { identifier: string },
  body: string,
  contentType = 'application/json',
): Promise<string> {
  const path =
    'id' in bot
      ? `fhir/R4/Bot/${bot.id}/$execute`
      : `fhir/R4/Bot/$execute?identifier=${encodeURIComponent(bot.identifier)}`;
  return post(caller, path, body, { contentType });
}

/** Invites somebody whom nobody knows; no mail is sent. */
export function invite(caller: Caller, project: string): Promise<string> {
  const person = {
    ...{ resourceType: 'Patient', firstName: 'Ann', lastName: 'Lee', sendEmail: false },
    email: `load-${randomUUID()}@example.org`,
  };
  return post(caller, `admin/projects/${project}/invite`, JSON.stringify(person));
}

/** A new Bot with this code, deployed. @returns its id */
export async function newBot(
  caller: Caller,
  project: string,
  code: string,
  identifier?: { system: string; value: string },
): Promise<string> {
  const bot = { name: 'Load', ...(identifier ? { identifier: [identifier] } : {}) };
  const made = await post(caller, `admin/projects/${project}/bot`, JSON.stringify(bot), { status: 201 });
  const { id } = JSON.parse(made) as { id: string };
  await post(caller, `fhir/R4/Bot/${id}/$deploy`, JSON.stringify({ code, filename: 'load.cjs' }));
  return id;
}

function expectStatus({ status, text }: Answered, wanted: number): string {
  if (status === wanted) return text;
  throw new Error(`${status} ${text.replace(/"(?:id|traceId)":"[^"]*"/g, '').slice(0, 150)}`);
}
