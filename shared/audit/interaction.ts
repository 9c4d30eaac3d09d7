/** FHIR restful-interaction of the routes by which records are read, and of those whose answers may show what is there. */
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
  'POST /fhir/R4/ProjectMembership/{id}/$explain': 'operation',
  'GET /auth/me': 'operation',
  'POST /auth/login': 'operation',
  'POST /auth/profile': 'operation',
  'POST /auth/mfa/verify': 'operation',
  'POST /auth/mfa/login-enroll': 'operation',
  'POST /auth/invitation': 'operation',
  'GET /admin/projects/{projectId}/members': 'search-type',
  'GET /admin/projects/{projectId}/members/{membershipId}': 'read',
  'POST /fhir/R4': 'batch',
  'POST /fhir/R4/{resourceType}': 'create',
  'PUT /fhir/R4/{resourceType}/{id}': 'update',
  'PUT /fhir/R4/{resourceType}': 'update',
  'PATCH /fhir/R4/{resourceType}/{id}': 'patch',
  'PATCH /fhir/R4/{resourceType}': 'patch',
} as const;

type InteractionCode = (typeof interactions)[keyof typeof interactions];

const compartment = 'GET /fhir/R4/Patient/{id}/{resourceType}';

interface Asked {
  /** As in the route table. */
  route: string;
  params: Readonly<Record<string, string>>;
}

/** Undefined for a route that reads no records. */
export function interactionOf({ route, params }: Asked): InteractionCode | undefined {
  // API Gateway may find the search of a compartment for the history of a Patient.
  const isHistory = route === compartment && params.resourceType === '_history';
  if (isHistory) return 'history-instance';
  return Object.entries(interactions).find(([key]) => key === route)?.[1];
}
