import { openApiDocument } from './document.ts';
import { apiReference } from './reference.ts';

/** What `npm run api-reference` writes, from the route table and the schemas of the bodies. */
export function generatedFiles(): { path: string; text: string }[] {
  const document = JSON.stringify(openApiDocument()).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return [
    {
      path: 'functions/site/openapi.ts',
      text: [
        '// Written by `npm run api-reference`; not to be edited.',
        '',
        '/** The OpenAPI 3.1 document of the API, as JSON. */',
        `export const openApi =\n  '${document}';`,
        '',
      ].join('\n'),
    },
    { path: 'docs/api.md', text: apiReference() },
  ];
}
