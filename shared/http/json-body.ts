import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { requireModest } from '../fhir/json-depth.ts';
import { Refusal } from '../refusal.ts';
import { decodeUtf8 } from './request.ts';
import type { HttpResponse } from './response.ts';

/** A route's handler that is given the body as JSON.parse reads it. */
export interface JsonHandler<Request> {
  /** False when the route may be called without a body: then `body` is undefined. */
  isRequired: boolean;
  handle(request: Request & { body: unknown }): Promise<HttpResponse>;
}

/** A route that takes JSON. */
export function json<Request>(handle: JsonHandler<Request>['handle']): JsonHandler<Request> {
  return { isRequired: true, handle };
}

/** A route that takes JSON, or no body. */
export function optionalJson<Request>(handle: JsonHandler<Request>['handle']): JsonHandler<Request> {
  return { isRequired: false, handle };
}

/** Middleware that puts the parsed body where the event had its text. */
export function jsonBody({ isRequired }: { isRequired: boolean }): MiddlewareObj<APIGatewayProxyEventV2> {
  const parser = httpJsonBodyParser();
  return {
    before(request) {
      const { body, isBase64Encoded } = request.event;
      if (body === undefined && !isRequired) return;
      requireModest(decodeUtf8(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')));
      return parser.before?.(request as never);
    },
  };
}

const jsonType = /^application\/(?:[a-z0-9.-]+\+)?json$/;

/**
 * The JSON of a body that an operation reads itself.
 * @param parse throws on malformed JSON
 * @throws {Refusal} unsupported-media-type; invalid when malformed, not UTF-8, or nested too deep
 */
export function parseJsonBody(
  bytes: Buffer | undefined,
  contentType: string | undefined,
  parse: (text: string) => unknown,
): unknown {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.find((one) => one.trim().startsWith('charset='))?.split('=')[1];
  if (!jsonType.test(type.trim()) || (charset && !/^"?(utf-8|us-ascii)"?$/.test(charset.trim()))) {
    throw new Refusal(
      'unsupported-media-type',
      'Content-Type must be application/json or application/fhir+json',
    );
  }
  const text = bytes === undefined ? '' : decodeUtf8(bytes);
  requireModest(text);
  try {
    return parse(text);
  } catch {
    throw new Refusal('invalid', 'Content could not be parsed');
  }
}
