import { isLong } from '../setup/long.ts';
import * as made from './bodies.ts';
import { worstSearches } from './searches.ts';
import type { WorstRequest, WorstRequests } from './worst-request.ts';

/** What the cases speak of. */
export interface World {
  /** Bots that are deployed; the second is for deploying over. */
  bot: string;
  spareBot: string;
  /** A Bot that has run many times. */
  busyBot: string;
  subscription: string;
  membership: string;
  client: string;
  /** As many as a membership may name, each as long as it may be. */
  policies: readonly string[];
  /** A Patient of as many index items as one may have, and one of 4 MiB. */
  indexed: string;
  long: string;
  /** An export of as many files as one may have, and a file of it that is as large as one may be. */
  exported: string;
  exportedFile: string;
}

const json = { 'content-type': 'application/json' };
const fhir = { 'content-type': 'application/fhir+json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const patch = { 'content-type': 'application/json-patch+json' };
const Patient = { resourceType: 'Patient' };
const none = '11111111-2222-4333-8444-555555555555';
const manyTypes = 'Patient,Observation,Practitioner,Encounter,Condition,Procedure,Bundle,Task,Basic,List';
const dates = made.list(50, (n) => `_lastUpdated=ge19${10 + n}-01-01`).join('&');
const longQuery = `x=${made.text(7000)}`;

let dealt = 0;

/** Of what many routes meet alike each gets so many in turn, and all in the long form. */
function inTurn(count: number, requests: readonly WorstRequest[]): WorstRequest[] {
  if (isLong) return [...requests];
  const first = dealt;
  dealt += count;
  return requests.filter(
    (_, n) => (n - (first % requests.length) + requests.length) % requests.length < count,
  );
}

/** A body of JSON of many values, of many fields, or with one long text. */
function jsonBodies(fields: object, long = 'email', params?: Record<string, string>): WorstRequest[] {
  const at = { headers: json, ...(params ? { params } : {}) };
  return inTurn(1, [
    { ...at, what: 'many values', body: made.manyValues },
    { ...at, what: 'many fields', body: made.withMany(fields) },
    { ...at, what: 'a long text', body: made.withLong(fields, long) },
  ]);
}

function forms(fields: Record<string, string>, long: string): WorstRequest[] {
  return [
    { what: 'many fields', body: made.manyFields, headers: form },
    { what: 'a long field', body: made.longForm(fields, long), headers: form },
  ];
}

const plain = (): WorstRequest[] => [{ what: 'a long query', query: longQuery }];
const searches = (params: Record<string, string>): WorstRequest[] =>
  Object.entries(worstSearches).map(([what, query]) => ({ what, query, params }));

function executions(params?: Record<string, string>, query?: string): WorstRequest[] {
  const at = { ...(params ? { params } : {}), ...(query ? { query } : {}) };
  const type = (name: string) => ({ 'content-type': name });
  return [
    { ...at, what: 'text of 4 MiB', body: made.text(4 * 1024 * 1024), headers: type('text/plain') },
    { ...at, what: 'JSON of many values', body: made.manyValues, headers: json },
    { ...at, what: 'a form of many fields', body: made.manyFields, headers: form },
    {
      ...at,
      what: 'HL7 of many segments',
      body: made.manySegments,
      headers: type('x-application/hl7-v2+er7'),
    },
    { ...at, what: 'FHIR of 4 MiB', body: JSON.stringify(made.longPatient()), headers: fhir },
    { ...at, what: 'FHIR of many values', body: JSON.stringify(made.patientOfValues()), headers: fhir },
  ];
}

function writes(params: Record<string, string>, fields: object = {}, query?: string): WorstRequest[] {
  const at = { params, headers: fhir, ...(query ? { query } : {}) };
  const body = (resource: object) => JSON.stringify({ ...resource, ...fields });
  return [
    { ...at, what: 'many indexed values', body: body(made.patientWith(3000)) },
    { ...at, what: 'more indexed values than allowed', body: body(made.patientWith(12_000)) },
    { ...at, what: 'many values to validate', body: body(made.patientOfValues()) },
    { ...at, what: '4 MiB', body: body(made.longPatient()) },
    { ...at, what: 'many values under a hidden field', body: body(made.patientOfValues()), as: 'hiding' },
  ];
}

const patches = (params: Record<string, string>, query?: string): WorstRequest[] => [
  {
    what: 'many operations',
    params,
    ...(query ? { query } : {}),
    headers: patch,
    body: JSON.stringify(
      made.list(14_000, () => ({ op: 'add', path: '/identifier/0', value: { value: 'x' } })),
    ),
  },
  {
    what: 'copies of copies',
    params,
    ...(query ? { query } : {}),
    headers: patch,
    body: JSON.stringify(
      made.list(14_000, () => ({ op: 'copy', from: '/identifier', path: '/extension/-' })),
    ),
  },
  {
    what: 'copies of what holds nothing',
    params,
    ...(query ? { query } : {}),
    headers: patch,
    body: JSON.stringify([
      { op: 'add', path: '/contact', value: made.list(20_000, () => ({})) },
      ...made.list(69, (n) => ({ op: 'copy', from: '/contact', path: `/c${n}` })),
    ]),
  },
];

function bundles(): WorstRequest[] {
  const one = (what: string, body: string): WorstRequest => ({ what, body, headers: fhir });
  const search = (n: number) => made.get(`Patient?${Object.values(worstSearches)[n % 12]}`);
  const few = (n: number) => made.patientWith(1, n);
  return [
    one(
      'a batch of 500 reads',
      made.bundle(
        'batch',
        made.list(500, (n) => made.get(`Patient/p${n}`)),
      ),
    ),
    one('a batch of 500 searches', made.bundle('batch', made.list(500, search))),
    one('a batch of 40 searches', made.bundle('batch', made.list(40, search))),
    one(
      'a batch of 500 histories',
      made.bundle(
        'batch',
        made.list(500, () => made.get('Patient/often/_history')),
      ),
    ),
    ...(isLong ? [1, 25, 60, 400] : [1, 60]).map((values) => ({
      ...one(
        `a batch of 500 creates of ${values} values`,
        made.bundle(
          'batch',
          made.list(500, (n) => made.post(made.patientWith(values, n * values))),
        ),
      ),
      changes: 500,
    })),
    {
      ...one(
        'a batch of 480 changes that come to nothing, and 20 searches',
        made.bundle('batch', [
          ...made.list(20, search),
          ...made.list(480, (n) => ({ request: { method: 'DELETE', url: `Patient/none${n}` } })),
        ]),
      ),
      changes: 480,
    },
    one(
      'a transaction of 99 creates of 40 values',
      made.bundle(
        'transaction',
        made.list(99, (n) => made.post(made.patientWith(40, n))),
      ),
    ),
    one(
      'a transaction of 99 conditional creates',
      made.bundle(
        'transaction',
        made.list(99, (n) => made.post(few(n), `identifier=urn:many|new${n}`)),
      ),
    ),
    one(
      'a transaction of 2,000 conditional references',
      made.bundle('transaction', [
        made.post({
          ...Patient,
          generalPractitioner: made.list(2000, (n) => ({ reference: `Practitioner?identifier=x|${n}` })),
        }),
      ]),
    ),
    one('many values', `{"resourceType":"Bundle","type":"batch","entry":${made.manyValues}}`),
  ];
}

/** The second begins one of 10,000 resources, in the process that is measured; later ones meet it. */
function exports(): WorstRequest[] {
  const headers = { prefer: 'respond-async' };
  return [
    { what: 'many types', query: `_type=${manyTypes}`, headers },
    { what: 'everything', query: 'includeAssociatedData=_history,_code,_people', headers },
  ];
}

/** Each route's worst requests. */
export const cases: WorstRequests<World> = {
  token: {
    token: () => [
      ...forms({ grant_type: 'client_credentials', client_id: none }, 'client_secret'),
      ...forms({ grant_type: 'refresh_token' }, 'refresh_token').slice(1),
      ...forms({ grant_type: 'authorization_code', code: 'x' }, 'code_verifier').slice(1),
    ],
    introspect: () => inTurn(1, forms({}, 'token')),
    revoke: () => inTurn(1, forms({}, 'token')),
    endSession: plain,
    endSessionByPost: () => inTurn(1, forms({}, 'id_token_hint')),
    jwks: plain,
    openidConfiguration: plain,
    authorizationServer: plain,
    smartConfiguration: plain,
    fhirSmartConfiguration: plain,
  },
  login: {
    authorize: plain,
    login: () => jsonBodies({ email: 'ann@example.com', password: 'x' }, 'password'),
    method: () => jsonBodies({}),
    clientInfo: () => [{ what: 'a long id', params: { clientId: made.text(5000) } }],
    chooseProfile: () => jsonBodies({ login: none }, 'profile'),
    verifyMfa: () => jsonBodies({ login: none }, 'token'),
    enrollMfaInLogin: () => jsonBodies({ login: none }, 'token'),
    resetPassword: () => jsonBodies({}),
    invitation: () => jsonBodies({ id: 'a.b' }, 'secret'),
    setPassword: () => jsonBodies({ id: 'a.b', secret: 'c' }, 'password'),
    startExternal: plain,
    acceptExternal: () => jsonBodies({ id: 'a.b' }, 'secret'),
    finishExternal: () => [
      { what: 'a long code', params: { issuerId: none }, query: `code=${made.text(7000)}` },
    ],
    undoAddress: () => jsonBodies({ id: 'a.b' }, 'secret'),
    verifyEmail: () => jsonBodies({ id: 'a.b' }, 'secret'),
  },
  account: {
    userInfo: plain,
    userInfoByPost: () => inTurn(1, forms({}, 'access_token')),
    me: plain,
    switchProject: () => jsonBodies({}, 'codeChallenge'),
    takeEmergency: () => jsonBodies({}, 'reason'),
    endOwnEmergency: () => [],
    reauthenticate: () => jsonBodies({ token: '000000' }, 'password'),
    reauthenticateExternal: () => jsonBodies({}, 'redirectUri'),
    signOut: () => [],
    revokeLogin: () => jsonBodies({}, 'loginId'),
    mfaStatus: plain,
    enrollMfa: () => jsonBodies({}, 'token'),
    disableMfa: () => jsonBodies({}, 'token'),
    renewRecoveryCodes: () => jsonBodies({}, 'token'),
    changePassword: () => jsonBodies({ oldPassword: 'x' }, 'newPassword'),
  },
  members: {
    project: plain,
    member: ({ membership }) => [{ what: 'one', params: { membershipId: membership } }],
    changeProject: () => jsonBodies({}, 'senderName'),
    members: () => [{ what: '1,000 to a page', query: '_count=1000' }],
    changeMember: ({ membership }) => jsonBodies({}, 'accessPolicy', { membershipId: membership }),
    removeMember: () => [{ what: 'nobody', params: { membershipId: made.text(5000) } }],
    resendInvitation: () => [{ what: 'nobody', params: { membershipId: made.text(5000) } }],
    revokeInvitation: () => [{ what: 'nobody', params: { membershipId: made.text(5000) } }],
    endEmergency: () => [{ what: 'nobody', params: { membershipId: made.text(5000) } }],
    setMemberPassword: () => jsonBodies({ email: 'ann@example.com' }, 'password'),
    setPasswordInOwnProject: () => jsonBodies({ email: 'ann@example.com' }, 'password'),
    createClient: ({ policies }) => [
      ...jsonBodies({ name: 'x' }, 'description'),
      {
        what: 'many rules within many',
        headers: json,
        body: JSON.stringify({
          name: 'x',
          access: policies.map((reference) => ({ policy: { reference } })),
        }),
        as: 'ruled',
      },
    ],
    client: ({ client }) => [{ what: 'one', params: { clientId: client } }],
    changeClient: ({ client }) => jsonBodies({}, 'expires', { clientId: client }),
    rotateSecret: ({ client }) => [{ what: 'one', params: { clientId: client } }],
    issuers: plain,
    addIssuer: () => jsonBodies({ clientId: 'x' }, 'issuer'),
    testIssuer: () => [{ what: 'nothing', params: { issuerId: made.text(5000) } }],
    removeIssuer: () => [{ what: 'nothing', params: { issuerId: made.text(5000) } }],
  },
  invite: {
    invite: () => jsonBodies({ ...person(0) }, 'firstName'),
    inviteMany: () => [
      { what: '200 rows', body: JSON.stringify(made.list(200, person)), headers: json },
      {
        what: 'CSV of many rows',
        body: `firstName,lastName\n${'a,b\n'.repeat(1_000_000)}`,
        headers: { 'content-type': 'text/csv' },
      },
      { what: 'many values', body: made.manyValues, headers: json },
    ],
  },
  bots: {
    createBot: () => jsonBodies({ name: 'x' }, 'description'),
    failures: plain,
    fetchHosts: plain,
    changeFetchHosts: () => [
      ...jsonBodies({}, 'allow'),
      {
        what: 'many hosts',
        headers: json,
        body: JSON.stringify({ allow: made.list(59_000, (n) => `h${n}.example.org`) }),
      },
    ],
    projectSecrets: plain,
    changeProjectSecrets: () => secrets({}),
    botSecrets: ({ bot }) => [{ what: 'none', params: { botId: bot } }],
    changeBotSecrets: ({ bot }) => secrets({ botId: bot }),
    deployBot: ({ spareBot }) => [
      {
        what: '4 MiB of code',
        params: { id: spareBot },
        headers: json,
        body: JSON.stringify({ code: made.longCode }),
      },
      {
        what: 'types of 100,000 levels',
        params: { id: spareBot },
        headers: json,
        body: JSON.stringify({
          filename: 'bot.ts',
          code: `type A=${'{a:'.repeat(100_000)}1${'}'.repeat(100_000)}`,
        }),
      },
      { what: 'many values', params: { id: spareBot }, headers: json, body: made.manyValues },
    ],
    rollBackBot: ({ spareBot }) => jsonBodies({}, 'version', { id: spareBot }),
    botLogs: ({ busyBot }) => [
      { what: '1,000 to a page', params: { id: busyBot }, query: '_count=1000&outcome=error' },
    ],
    botCode: ({ bot }) => [
      { what: 'what runs', params: { id: bot } },
      { what: 'no such version', params: { id: bot }, query: `version=${'0'.repeat(64)}` },
    ],
    botFigures: ({ busyBot }) => [{ what: 'of a busy day', params: { id: busyBot } }],
    botVersions: ({ bot }) => [{ what: '1,000 to a page', params: { id: bot }, query: '_count=1000' }],
  },
  subscriptions: {
    deliveries: ({ subscription }) => [
      { what: '1,000 to a page', params: { id: subscription }, query: '_count=1000' },
    ],
    redeliver: ({ subscription }) => jsonBodies({}, 'delivery', { id: subscription }),
    resend: ({ long }) => jsonBodies({}, 'subscription', { ...Patient, id: long }),
  },
  'execute-by-id': { executeById: ({ bot }) => executions({ id: bot }) },
  'execute-by-identifier': {
    executeByIdentifier: () => inTurn(2, executions(undefined, 'identifier=urn:worst|1')),
  },
  resources: {
    export: exports,
    exportByPost: () => inTurn(1, exports()),
    exportStatus: ({ exported }) => [
      { what: 'none', params: { id: made.text(5000) } },
      { what: 'a manifest of 8,000 files', params: { id: exported } },
    ],
    cancelExport: () => [{ what: 'none', params: { id: made.text(5000) } }],
    exportFile: ({ exported, exportedFile }) => [
      { what: 'none', params: { id: made.text(5000), file: made.text(2000) } },
      {
        what: '4 MB of small resources',
        params: { id: exported, file: exportedFile },
        headers: { 'accept-encoding': 'gzip' },
      },
    ],
    jobStatus: () => [{ what: 'none', params: { id: made.text(5000) } }],
    cancelJob: () => [{ what: 'none', params: { id: made.text(5000) } }],
    runStatus: () => [{ what: 'none', params: { id: made.text(5000) } }],
    cancelRun: () => [{ what: 'none', params: { id: made.text(5000) } }],
    metadata: plain,
    bundle: bundles,
    search: () => [
      ...searches({ resourceType: 'Patient' }),
      ...inTurn(6, searches({ resourceType: 'Patient' })).map((each) => ({ ...each, as: 'nobody' as const })),
      ...searches({ resourceType: 'Patient' })
        .slice(0, 2)
        .map((each) => ({ ...each, as: 'hiding' as const })),
      { what: 'many rules', params: { resourceType: 'Patient' }, query: '_count=1000', as: 'ruled' },
      { what: 'many rules', params: { resourceType: 'Patient' }, query: '_count=1', as: 'ruled' },
      {
        what: 'all of the audit log',
        params: { resourceType: 'AuditEvent' },
        query: '_count=1000&_sort=-date',
      },
    ],
    searchTypes: () => [
      { what: 'many types', query: `_type=${manyTypes}&_count=1000` },
      { what: 'many types, many dates', query: `_type=${manyTypes}&${dates}`, as: 'nobody' },
    ],
    searchTypesByPost: () => forms({ _type: manyTypes }, '_lastUpdated'),
    searchCompartment: () => [
      { what: 'a page', params: { id: 'p1', resourceType: 'Observation' }, query: '_count=1000' },
      { what: 'many dates', params: { id: 'p1', resourceType: 'Observation' }, query: dates, as: 'nobody' },
    ],
    searchCompartmentByPost: () =>
      forms({}, 'code').map((each) => ({ ...each, params: { id: 'p1', resourceType: 'Observation' } })),
    systemHistory: () => [
      { what: 'a page', query: '_count=100' },
      { what: 'nothing to be seen', query: '_count=100', as: 'nobody' },
      { what: 'a far offset', query: '_count=100&_offset=6000&_type=Patient' },
    ],
    searchByPost: () => forms({}, 'name').map((each) => ({ ...each, params: { resourceType: 'Patient' } })),
    create: () => writes({ resourceType: 'Patient' }),
    conditionalUpdate: () => inTurn(2, writes({ resourceType: 'Patient' }, {}, 'identifier=urn:mrn|mrn-77')),
    conditionalPatch: () => patches({ resourceType: 'Patient' }, 'identifier=urn:mrn|mrn-78'),
    conditionalDelete: () => inTurn(2, searches({ resourceType: 'Patient' }).slice(0, 6)),
    typeHistory: () => [
      { what: 'a page', params: { resourceType: 'Patient' }, query: '_count=100' },
      { what: 'nothing to be seen', params: { resourceType: 'Patient' }, query: '_count=100', as: 'nobody' },
      {
        what: 'a far offset',
        params: { resourceType: 'Patient' },
        query: '_count=100&_offset=6000',
        as: 'nobody',
      },
    ],
    read: ({ long, indexed }) => [
      { what: '4 MiB', params: { ...Patient, id: long } },
      { what: 'fields to hide', params: { ...Patient, id: indexed }, as: 'hiding' },
    ],
    readVersion: () => [
      { what: 'one of many', params: { ...Patient, id: 'often', versionId: 'v7' }, as: 'hiding' },
      { what: 'not seen', params: { ...Patient, id: 'often', versionId: 'v7' }, as: 'nobody' },
    ],
    update: ({ indexed }) => [
      {
        what: 'all indexed values replaced',
        params: { ...Patient, id: indexed },
        headers: fhir,
        body: JSON.stringify({ ...made.patientWith(3000, 10_000), id: indexed }),
      },
      ...inTurn(2, writes({ ...Patient, id: 'p99' }, { id: 'p99' })),
    ],
    patch: ({ indexed }) => patches({ ...Patient, id: indexed }),
    delete: ({ indexed }) => [{ what: 'many indexed values', params: { ...Patient, id: indexed } }],
    history: () => [
      { what: 'a page of many versions', params: { ...Patient, id: 'often' }, query: '_count=100' },
      { what: 'nothing to be seen', params: { ...Patient, id: 'often' }, query: '_count=100', as: 'nobody' },
      { what: 'a far offset', params: { ...Patient, id: 'often' }, query: '_count=100&_offset=900' },
    ],
    everything: () => [
      { what: '3,000 Observations', params: { id: 'p1' }, query: '_count=1000' },
      { what: 'nothing to be seen', params: { id: 'p1' }, query: '_count=1000', as: 'nobody' },
    ],
    everythingByPost: () => forms({}, '_type').map((each) => ({ ...each, params: { id: 'p1' } })),
    explain: ({ membership }) => [
      ...jsonBodies({}, 'search', { id: membership }),
      ...inTurn(
        5,
        Object.entries(worstSearches).map(([what, query]) => ({
          what,
          params: { id: membership },
          headers: json,
          body: JSON.stringify({ search: `Patient?${query}` }),
        })),
      ),
    ],
    validate: () => inTurn(2, writes({ resourceType: 'Patient' })),
    validateNext: () => inTurn(2, writes({ ...Patient, id: 'p99' }, { id: 'p99' })),
    unknown: () => [{ what: '4 MiB', body: made.manyValues, headers: json }],
  },
  site: {
    root: plain,
    app: plain,
    openapi: plain,
    appFile: () => [{ what: 'a long path', params: { path: made.text(5000) } }],
  },
};

function secrets(params: Record<string, string>): WorstRequest[] {
  const many = made.list(14_000, (n) => ({ name: `S${n}`, valueString: 'x' }));
  return [
    { what: 'many secrets', params, headers: json, body: JSON.stringify(many) },
    { what: 'many values', params, headers: json, body: made.manyValues },
  ];
}

function person(n: number) {
  return {
    resourceType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: `worst-${n}@example.com`,
    sendEmail: false,
  };
}
