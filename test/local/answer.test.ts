import { describe, expect, test } from '@jest/globals';
import { answerOf } from '../../infra/local/gateway/http-api.ts';
import fc from '../setup/fast-check.ts';

const of = (result: unknown) => answerOf(JSON.stringify(result));

describe('a handler’s result', () => {
  test('with statusCode is the response', () => {
    const answer = of({
      statusCode: 201,
      headers: { 'Content-Type': 'application/fhir+json', ETag: 'W/"1"' },
      body: 'ü',
    });
    expect(answer).toEqual({
      statusCode: 201,
      headers: [
        ['content-type', 'application/fhir+json'],
        ['etag', 'W/"1"'],
      ],
      body: Buffer.from('ü'),
    });
  });

  test('may hold bytes as base64, cookies and header values that are no strings', () => {
    const answer = of({
      statusCode: '200',
      headers: { 'retry-after': 3, 'content-type': 'image/png' },
      cookies: ['a=1; HttpOnly', 'b=2'],
      body: Buffer.from([0, 255, 10]).toString('base64'),
      isBase64Encoded: true,
    });
    expect(answer).toEqual({
      statusCode: 200,
      headers: [
        ['retry-after', '3'],
        ['content-type', 'image/png'],
        ['set-cookie', 'a=1; HttpOnly'],
        ['set-cookie', 'b=2'],
      ],
      body: Buffer.from([0, 255, 10]),
    });
  });

  test('without a content type is plain text', () => {
    expect(of({ statusCode: 200, body: 'a' })).toEqual({
      statusCode: 200,
      headers: [['content-type', 'text/plain; charset=utf-8']],
      body: Buffer.from('a'),
    });
  });

  test('without a body has no type', () => {
    expect(of({ statusCode: 204 })).toEqual({ statusCode: 204, headers: [], body: Buffer.alloc(0) });
  });

  test('cannot set what belongs to the connection', () => {
    const headers = {
      'Content-Length': '5',
      Connection: 'close',
      'Transfer-Encoding': 'chunked',
      'content-type': 'a/b',
    };
    expect(of({ statusCode: 200, headers }).headers).toEqual([['content-type', 'a/b']]);
  });

  test('without statusCode is the JSON body of a 200', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== 'object' || value === null || !('statusCode' in value));
        const answer = of(value);
        expect(answer.statusCode).toBe(200);
        expect(answer.headers).toEqual([['content-type', 'application/json']]);
        expect(JSON.parse(answer.body.toString())).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test.each([
    { statusCode: 0 },
    { statusCode: 'x' },
    { statusCode: 200.5 },
    { statusCode: 99 },
    { statusCode: null },
    { statusCode: 200, body: {} },
    { statusCode: 200, headers: 'a' },
    { statusCode: 200, headers: { a: ['b'] } },
    { statusCode: 200, cookies: 'a=b' },
  ])('%j is a 500', (result) => {
    expect(of(result)).toMatchObject({
      statusCode: 500,
      body: Buffer.from('{"message":"Internal Server Error"}'),
    });
  });
});
