import { describe, expect, it } from '@jest/globals';
import { allRoutes } from '../../functions/routes.ts';
import { apiFunctions, timeoutSeconds } from '../../infra/deployed-functions.ts';
import { routeKey } from '../../shared/carry/http/routes.ts';
import {
  actionsOf,
  functionsOf,
  ofType,
  only,
  type Resource,
  stageTemplates,
  statementsOfRole,
} from './stage-templates.ts';
import { stages } from './stages.ts';

const { api: own, events, sandbox } = stageTemplates();
/** Functions with queues are made beside these. */
const api = { ...events, ...own };
const deployed = new Map(
  ofType(api, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => [Properties.RouteKey, Properties]),
);
const rows = allRoutes.map((route) => ({ ...route, key: routeKey(route) }));

/** Where a route leads: its integration and the function behind it. */
function behind(routeKey: string): { integration: Resource | undefined; lambda: Resource | undefined } {
  const target = deployed.get(routeKey)?.Target as { 'Fn::Join': [string, [string, { Ref: string }]] };
  const integration = api[target['Fn::Join'][1][1].Ref];
  const uri = integration?.Properties.IntegrationUri as { 'Fn::GetAtt': [string, string] };
  return { integration, lambda: api[uri['Fn::GetAtt'][0]] };
}

describe('routes', () => {
  it('are those of the route table and no other', () => {
    expect([...deployed.keys()].sort()).toEqual(rows.map(({ key }) => key).sort());
  });

  it.each(rows)('$key leads to the function $function', ({ key, function: name }) => {
    expect(behind(key).lambda?.Properties.Description).toBe(apiFunctions[name].description);
  });

  it('name $execute literally, so that no resource id can stand for it', () => {
    expect(deployed.has('POST /fhir/R4/Bot/{id}/$execute')).toBe(true);
    expect(deployed.has('POST /fhir/R4/Bot/$execute')).toBe(true);
  });

  it('are public only where this list says so', () => {
    const open = rows.filter(({ access }) => access === 'public').map(({ key }) => key);
    expect(open.sort()).toEqual([
      '$default',
      'GET /',
      'GET /.well-known/jwks.json',
      'GET /.well-known/oauth-authorization-server',
      'GET /.well-known/openid-configuration',
      'GET /.well-known/smart-configuration',
      'GET /app',
      'GET /app/{path+}',
      'GET /auth/clientinfo/{clientId}',
      'GET /auth/external/start',
      'GET /auth/external/{issuerId}',
      'GET /fhir/R4/.well-known/smart-configuration',
      'GET /fhir/R4/metadata',
      'GET /oauth2/authorize',
      'GET /oauth2/end-session',
      'GET /openapi.json',
      'POST /auth/external/accept',
      'POST /auth/invitation',
      'POST /auth/login',
      'POST /auth/method',
      'POST /auth/mfa/login-enroll',
      'POST /auth/mfa/verify',
      'POST /auth/profile',
      'POST /auth/resetpassword',
      'POST /auth/setpassword',
      'POST /auth/undoaddress',
      'POST /auth/verifyemail',
      'POST /oauth2/end-session',
      'POST /oauth2/introspect',
      'POST /oauth2/revoke',
      'POST /oauth2/token',
    ]);
  });

  it('let API Gateway alone call their functions', () => {
    const permissions = ofType(own, 'AWS::Lambda::Permission').map(([, { Properties }]) => Properties);
    // The function of jobs and the one that makes keys are called by who has a role for it.
    expect(permissions).toHaveLength(functionsOf(own).length - 2);
    for (const { Principal, SourceArn } of permissions) {
      expect(Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(SourceArn)).toContain('PublicApi');
    }
  });
});

describe('time limits', () => {
  it('end from the inside out', () => {
    for (const { key } of rows.filter(({ function: name }) => name.startsWith('execute-'))) {
      const { integration, lambda } = behind(key);
      const [invoker] = functionsOf(sandbox);
      const gateway = Number(integration?.Properties.TimeoutInMillis) / 1000;
      expect(gateway).toBe(30);
      expect(gateway).toBeGreaterThan(Number(lambda?.Properties.Timeout));
      expect(lambda?.Properties.Timeout).toBeGreaterThan(Number(invoker?.properties.Timeout));
      expect(invoker?.properties.Timeout).toBeGreaterThan(25);
    }
  });

  it('let every function of a route answer before the gateway does', () => {
    const routed = rows.map(({ key }) => behind(key).lambda?.Properties.Timeout);
    for (const seconds of routed) expect(seconds).toBeLessThan(timeoutSeconds.api);
  });
});

describe('jobs', () => {
  const jobs = functionsOf(own).find(
    ({ properties }) => properties.Description === 'Runs Bots that nobody waits for',
  );
  const long = functionsOf(sandbox).find(({ properties }) =>
    String(properties.Description).endsWith('for jobs'),
  );

  it('end from the inside out, at Lambda’s own limit', () => {
    expect(jobs?.properties.Timeout).toBe(900);
    expect(Number(long?.properties.Timeout)).toBeLessThan(900);
    expect(long?.properties.Timeout).toBeGreaterThan(840);
  });

  it('are not repeated; what failed is kept by the function’s own role', () => {
    const config = only(own, 'AWS::Lambda::EventInvokeConfig');
    expect(config.Properties).toMatchObject({
      FunctionName: { Ref: jobs?.id },
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 300,
    });
    const queue = only(own, 'AWS::SQS::Queue');
    expect(JSON.stringify(config.Properties.DestinationConfig)).toContain(queue.id);
    const statements = statementsOfRole(own, jobs?.roleId ?? '');
    const sending = statements.filter((statement) => actionsOf([statement]).includes('sqs:SendMessage'));
    expect(sending.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [queue.id, 'Arn'] }]);
  });

  it('are behind no route', () => {
    expect(rows.filter(({ key }) => behind(key).lambda === api[jobs?.id ?? ''])).toEqual([]);
  });
});

describe('the API', () => {
  const stage = (resources: Record<string, Resource>) =>
    only(resources, 'AWS::ApiGatewayV2::Stage').Properties;
  const gateway = (resources: Record<string, Resource>) =>
    only(resources, 'AWS::ApiGatewayV2::Api').Properties;

  it('logs no path, query string, address or user agent', () => {
    const { Format } = stage(own).AccessLogSettings as { Format: string };
    expect(Format).toContain('$context.requestId');
    expect(Format).not.toMatch(/path|query|identity|sourceIp|userAgent|header/i);
  });

  it('allows no foreign origin by default', () => {
    expect(gateway(own)).not.toHaveProperty('CorsConfiguration');
  });

  it('echoes the origins of its stage and no others', () => {
    const { CorsConfiguration } = gateway(stageTemplates('foreign').api);
    const { allowedOrigins: AllowOrigins } = stages.foreign;
    expect(CorsConfiguration).toMatchObject({ AllowOrigins, AllowCredentials: true });
    expect(JSON.stringify(CorsConfiguration)).not.toContain('*');
  });

  it('has one name: with a domain of its own API Gateway’s is shut', () => {
    const named = stageTemplates('named');
    const { sourceKey } = stages.named;
    const served = functionsOf(named.api).filter(({ properties }) =>
      JSON.stringify(properties).includes('SOURCE_KEY'),
    );
    // All but what runs jobs and what makes keys, which no request reaches, and the app's files.
    expect(served).toHaveLength(functionsOf(named.api).length - 3);
    for (const { properties } of served) {
      expect(properties.Environment).toMatchObject({
        Variables: { SOURCE_KEY: sourceKey, TRUSTED_HOPS: '1' },
      });
    }
    expect(gateway(named.api).DisableExecuteApiEndpoint).toBe(true);
    for (const { properties } of functionsOf({
      ...named.api,
      ...named.events,
      ...named.provision,
      ...named.reindex,
    })) {
      const { Variables } = properties.Environment as { Variables: Record<string, unknown> };
      expect(Variables.BASE_URL).toBe('https://api.example.org');
    }
  });
});
