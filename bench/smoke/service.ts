import { fieldsOf } from '../../shared/base/values.ts';

/** A service as the outside sees it: nothing of ours is loaded that knows more of it. */
export interface Service {
  /** @param path from the base URL on, sent as it stands */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** How many requests were sent. */
  readonly requests: number;
}

interface CallOptions {
  /** An access token. */
  token?: string;
  body?: string | object | URLSearchParams;
  headers?: Readonly<Record<string, string>>;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Of an answer that is a JSON object; none of any other. */
  fields: Readonly<Record<string, unknown>>;
}

export function serviceAt(base: string): Service {
  let requests = 0;
  return {
    get requests() {
      return requests;
    },
    async call(method, path, { token, body, headers = {} } = {}) {
      requests += 1;
      const isObject = typeof body === 'object' && !(body instanceof URLSearchParams);
      const response = await fetch(`${base}/${path}`, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(isObject ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isObject ? JSON.stringify(body) : body }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, fields: fieldsOf(parsed(text)) };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
