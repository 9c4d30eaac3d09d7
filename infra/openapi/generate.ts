import { fieldsOf } from '../../shared/base/values.ts';
import { answerHelp, writeGenerated } from '../command.ts';
import { type DescribedRoute, describedRoutes, openApiDocument } from './document.ts';
import { type Body, type JsonSchema, withoutMark } from './words.ts';

/** docs/api.md: every route with its parameters, body and answers. */
function apiReference(): string {
  const byTag = Map.groupBy(describedRoutes, ({ tag }) => tag);
  return [
    '# API reference',
    '',
    'Written by `npm run api-reference` from the route table and the schemas that parse the bodies; the service answers the same as an OpenAPI 3.1 document at `/openapi.json`. What the routes are for: [identity](identity.md), [Bots](bots.md), [search](search.md), [limits](limits.md).',
    '',
    'Every refusal is a FHIR OperationOutcome: 400 with an issue per wrong field, 401 without a good token, 403 for who may not, 413 beyond 4 MiB, 415 for another content type, 429 with `Retry-After`.',
    ...[...byTag].flatMap(([tag, routes]) => ['', `## ${tag}`, ...routes.flatMap(section)]),
    '',
  ].join('\n');
}

const callers = { public: 'anybody', member: 'members', administrator: 'administrators' };

function section({ method, path, access, words, answers }: DescribedRoute): string[] {
  const { summary, query = {}, headers = {}, body } = words;
  return [
    '',
    `### ${method} ${path}`,
    '',
    `${summary}. For ${callers[access]}.`,
    ...table(
      ['parameter', 'in', ''],
      [
        ...Object.entries(query).map(([name, text]) => [code(name), 'query', text]),
        ...Object.entries(headers).map(([name, text]) => [code(name), 'header', text]),
      ],
    ),
    ...(body ? bodyLines(body) : []),
    ...table(
      ['answer', ''],
      Object.entries(answers).map(([status, { description }]) => [status, description]),
    ),
  ];
}

function bodyLines({ content, isOptional }: Body): string[] {
  const types = Object.keys(content).map(code).join(', ');
  const [first] = Object.values(content);
  return [
    '',
    `Body${isOptional ? ', if any' : ''}: ${types}`,
    ...table(['field', 'type', ''], first ? fieldRows(first) : []),
  ];
}

/** Of an array, the fields of what is in it. */
function fieldRows({ type, items, properties, required }: JsonSchema): string[][] {
  if (type === 'array') return fieldRows(fieldsOf(items));
  return Object.entries(fieldsOf(properties)).map(([name, schema]) => [
    code(Array.isArray(required) && required.includes(name) ? `${name}!` : name),
    typeOf(fieldsOf(schema)),
    String(fieldsOf(schema).description ?? ''),
  ]);
}

function typeOf({ type, enum: values, anyOf, items }: JsonSchema): string {
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(' \\| ');
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].join(' \\| ');
  if (type === 'array' && items) return `array of ${typeOf(fieldsOf(items))}`;
  return Array.isArray(type) ? type.join(' \\| ') : String(type ?? 'any');
}

/** A field that must be there ends with `!`. */
function code(name: string): string {
  return `\`${withoutMark(name)}\`${name.endsWith('!') ? ' required' : ''}`;
}

function table(head: string[], rows: string[][]): string[] {
  if (rows.length === 0) return [];
  return [
    '',
    `| ${head.join(' | ')} |`,
    `|${head.map(() => ' --- |').join('')}`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ];
}

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

if (import.meta.main) {
  answerHelp('npm run api-reference\n  writes docs/api.md and the document of /openapi.json\n');
  await writeGenerated(generatedFiles());
}
