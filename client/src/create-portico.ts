import type { InviteRequest, ProjectMembership } from './invite-request.ts';
import { outcomeErrorOf } from './operation-outcome-error.ts';
import { type BotInput, isJson, mediaType, type RequestBody, requestBody } from './request-body.ts';
import { serviceUrl } from './service-url.ts';
import type { AccessTokens } from './tokens.ts';

/**
 * An id as one segment of a path. URLs resolve `.` and `..` even percent-encoded, so such an id
 * would name another resource: it is refused, as is an empty one.
 * @throws {TypeError}
 */
function pathSegment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`Not an id: ${JSON.stringify(id)}`);
  return encodeURIComponent(id);
}

/** Names a Bot inside its Project. Without `system` it is found as `|value`. */
export interface Identifier {
  system?: string | undefined;
  value: string;
}

/**
 * The path that executes a Bot, below the service's address.
 * @throws {TypeError} when the id or the identifier's value is empty
 */
export function executePath(bot: string | Identifier): string {
  if (typeof bot === 'string') return `fhir/R4/Bot/${pathSegment(bot)}/$execute`;
  if (typeof bot?.value !== 'string' || bot.value === '') throw new TypeError('An identifier needs a value');
  return `fhir/R4/Bot/$execute?identifier=${encodeURIComponent(`${bot.system ?? ''}|${bot.value}`)}`;
}

/**
 * A successful answer by its type: JSON parsed, text and HL7 v2 as a string, everything else as a
 * Blob. An empty answer that is not text is `undefined`.
 * @throws {SyntaxError} when a JSON answer is not JSON
 */
async function readAnswer(response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? '';
  const type = mediaType(contentType);
  if (type === 'text/plain' || type === 'x-application/hl7-v2+er7') return response.text();
  if (isJson(type)) {
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }
  const blob = await response.blob();
  return type === '' && blob.size === 0 ? undefined : blob;
}

export interface PorticoOptions {
  /** The service's address, as `https://portico.example.org`. */
  baseUrl: string | URL;
  /** An access token, or where to get one: `clientCredentials(…)`. */
  auth: string | AccessTokens;
}

export interface CallOptions {
  /** Ends the call for the caller. What the service began may still happen. */
  signal?: AbortSignal;
}

export interface Portico {
  /**
   * Executes a Bot once and answers what it returned: JSON parsed, text and HL7 v2 as a string, a
   * Binary's content as a Blob. A Bot that returned nothing answers the outcome `All OK`.
   * @param bot its id, or an identifier of it
   * @param input see `contentType`; `undefined` sends no body
   * @param contentType text/plain for a string, application/x-www-form-urlencoded for
   *   URLSearchParams, a Blob's own, application/fhir+json for a resource and application/json for
   *   other values, unless said. A string of a JSON type is sent as JSON text.
   * @throws {OperationOutcomeError} when the service refused or the Bot failed
   * @throws {TypeError} before anything is sent: the input cannot be sent as what it is. From
   *   `fetch`: the connection failed and the Bot may have run
   */
  executeBot<Result = unknown>(
    bot: string | Identifier,
    input?: BotInput,
    contentType?: string,
    options?: CallOptions,
  ): Promise<Result>;

  /**
   * Invites a person into a Project, once.
   * @throws {OperationOutcomeError} one issue per wrong field, named in its `expression`
   */
  invite(projectId: string, body: InviteRequest, options?: CallOptions): Promise<ProjectMembership>;

  /**
   * Any other call of the API: its answer as it came, when it is a success.
   * @param path below the service's address, or an address of its own that the service gave, as the
   *   `next` link of a Bundle
   * @throws {OperationOutcomeError} when the service refused
   * @throws {TypeError} before anything is sent: the address is not the service's
   */
  fetch(path: string, request?: ApiRequest, options?: CallOptions): Promise<Response>;
}

export interface ApiRequest {
  /** GET when left out. */
  method?: string;
  /** Sent as `executeBot` sends its input. */
  body?: BotInput;
  contentType?: string;
  headers?: Record<string, string>;
  /** Cookies are neither sent nor kept when left out: only the way through an issuer needs one. */
  credentials?: 'omit' | 'same-origin';
}

/** Calls one service. Every method sends exactly one request of its own and repeats nothing. */
export function createPortico({ baseUrl, auth }: PorticoOptions): Portico {
  const tokens = typeof auth === 'string' ? { get: async () => auth, drop() {} } : auth;

  type Sent = RequestBody & { method: string } & Pick<ApiRequest, 'headers' | 'credentials'>;

  async function send(path: string, request: Sent, { signal }: CallOptions = {}) {
    const { method, body, contentType, headers = {}, credentials = 'omit' } = request;
    const url = serviceUrl(baseUrl, path);
    const token = await tokens.get();
    const response = await fetch(url, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(contentType ? { 'content-type': contentType } : {}),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
      credentials,
      // A redirect would send the body, and what it says of a patient, a second time.
      redirect: 'error',
    });
    if (response.ok) return response;
    if (response.status === 401) tokens.drop(token);
    throw await outcomeErrorOf(response);
  }

  async function post(path: string, body: RequestBody, options?: CallOptions) {
    return readAnswer(await send(path, { method: 'POST', ...body }, options));
  }

  return {
    async executeBot<Result>(
      bot: string | Identifier,
      input?: BotInput,
      contentType?: string,
      options?: CallOptions,
    ) {
      return (await post(executePath(bot), requestBody(input, contentType), options)) as Result;
    },
    async invite(projectId, body, options) {
      const path = `admin/projects/${pathSegment(projectId)}/invite`;
      return (await post(path, requestBody(body, 'application/json'), options)) as ProjectMembership;
    },
    async fetch(path, { method = 'GET', body, contentType, ...rest } = {}, options) {
      return send(path, { method, ...rest, ...requestBody(body, contentType) }, options);
    },
  };
}
