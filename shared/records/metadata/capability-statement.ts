import { allRoutes, routes } from '../../../functions/routes.ts';
import { parametersOf, resourceTypes } from '../../store/index/registry.ts';
import { bundleLimits, importAdvice } from '../write/references.ts';
import { searchDefinitions } from './search-definitions.ts';

const typePath = '/fhir/R4/{resourceType}';

const interactions = {
  read: routes.resources.read,
  vread: routes.resources.readVersion,
  update: routes.resources.update,
  patch: routes.resources.patch,
  delete: routes.resources.delete,
  'history-instance': routes.resources.history,
  'history-type': routes.resources.typeHistory,
  create: routes.resources.create,
  'search-type': routes.resources.search,
} as const;

/** Types that R4 does not have: a strict parser refuses a statement that names them. */
const beyondR4 = new Set([
  ...['AccessPolicy', 'Bot', 'ClientApplication', 'Project'],
  ...['ProjectMembership', 'SubscriptionStatus', 'User'],
]);

const oauth = { system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' };

/**
 * R4 CapabilityStatement, made from the route table and the search registry.
 * @param date when this process began to serve
 */
export function capabilityStatement(baseUrl: string, date: string, { isExtended = false } = {}): object {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date,
    kind: 'instance',
    software: { name: 'Portico' },
    implementation: { description: 'Portico', url: `${baseUrl}/fhir/R4` },
    fhirVersion: '4.0.1',
    format: ['json'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        security: { service: [{ coding: [oauth] }] },
        resource: resourceTypes()
          .filter((type) => isExtended || !beyondR4.has(type))
          .map(resourceOf),
        interaction: [
          {
            code: 'transaction',
            documentation: `${bundleLimits.writes}. ${bundleLimits.conditions}. For more, ${importAdvice}.`,
          },
          { code: 'batch', documentation: `${bundleLimits.entries}. For more, ${importAdvice}.` },
          { code: 'search-system' },
          { code: 'history-system' },
        ],
        operation: [
          { name: 'export', definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export' },
        ],
      },
    ],
  };
}

function resourceOf(type: string): object {
  const found = allRoutes.flatMap(({ path }) => {
    const [owner, last = ''] = [path.split('/')[3], path.split('/').at(-1)];
    return (owner === type || owner === '{resourceType}') && last.startsWith('$') ? [last.slice(1)] : [];
  });
  const operations = new Set(found);
  const named = [...operations].map((name) => ({ name, definition: definitionOf(type, name) }));
  return {
    type,
    interaction: Object.entries(interactions)
      .filter(([, { path }]) => path.startsWith(typePath))
      .map(([code]) => ({ code })),
    versioning: 'versioned-update',
    readHistory: true,
    updateCreate: true,
    conditionalCreate: true,
    conditionalUpdate: true,
    conditionalDelete: 'single',
    searchInclude: [...parametersOf(type).values()]
      .filter((parameter) => parameter.type === 'reference')
      .map(({ code }) => `${type}:${code}`),
    searchParam: [...parametersOf(type).values()].map((parameter) => ({
      name: parameter.code,
      definition: searchDefinition(type, parameter.code),
      type: parameter.type,
    })),
    ...(operations.size > 0 ? { operation: named } : {}),
  };
}

/** R4 defines `$everything`; operations on Bots are Medplum's. */
function definitionOf(type: string, name: string): string {
  if (name === 'validate') return 'http://hl7.org/fhir/OperationDefinition/Resource-validate';
  return type === 'Bot'
    ? `https://www.medplum.com/fhir/OperationDefinition/bot-${name}`
    : `http://hl7.org/fhir/OperationDefinition/${type}-${name}`;
}

/** URLs of SearchParameters by `<type>.<code>`, where R4 shares one between types. */
const shared = new Map(
  Object.entries(searchDefinitions).flatMap(([url, of]) => of.split(' ').map((name) => [name, url] as const)),
);

function searchDefinition(type: string, code: string): string {
  const url = shared.get(`${type}.${code}`);
  if (url !== undefined) return url;
  const name = code.startsWith('_') ? `Resource-${code.slice(1)}` : `${type}-${code}`;
  return `http://hl7.org/fhir/SearchParameter/${name}`;
}
