/** FHIR restful-interaction of the routes by which records are read, and of the one that may answer one that is there. */
const interactions = {
  'GET /fhir/R4/{resourceType}/{id}': 'read',
  'GET /fhir/R4/{resourceType}/{id}/_history/{versionId}': 'vread',
  'GET /fhir/R4/{resourceType}/{id}/_history': 'history-instance',
  'GET /fhir/R4/{resourceType}/_history': 'history-type',
  'GET /fhir/R4/_history': 'history-system',
  'GET /fhir/R4/{resourceType}': 'search-type',
  'POST /fhir/R4/{resourceType}/_search': 'search-type',
  'GET /fhir/R4/Patient/{id}/{resourceType}': 'search-type',
  'POST /fhir/R4/Patient/{id}/{resourceType}/_search': 'search-type',
  'GET /fhir/R4': 'search-system',
  'POST /fhir/R4/_search': 'search-system',
  'GET /fhir/R4/Patient/{id}/$everything': 'operation',
  'POST /fhir/R4/Patient/{id}/$everything': 'operation',
  'GET /fhir/R4/bulkdata/export/{id}/{file}': 'operation',
  'POST /fhir/R4': 'batch',
  'POST /fhir/R4/{resourceType}': 'create',
} as const;

type InteractionCode = (typeof interactions)[keyof typeof interactions];

/** Undefined for a route that reads no records. @param route as in the route table */
export function interactionOf(route: string): InteractionCode | undefined {
  return Object.entries(interactions).find(([key]) => key === route)?.[1];
}
