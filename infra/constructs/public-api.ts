import { ArnFormat, Duration, Stack, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CfnIntegration,
  CfnRoute,
  type CfnStage,
  CorsHttpMethod,
  type CorsPreflightOptions,
  DomainName,
  HttpApi,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type FunctionName, routesOf } from '../../functions/routes.ts';
import { routeKey } from '../../shared/carry/http/routes.ts';
import { cors } from '../cors.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import type { Stage } from '../stage.ts';
import { alarmPeriod, ImpactAlarm, watchCertificate } from './alarms.ts';
import type { HouseFunction } from './house-function.ts';
import { KeptLogs } from './logs.ts';

interface Throttle {
  /** Requests a second, on average. */
  rate: number;
  /** Requests at once. */
  burst: number;
}

/**
 * Of the whole stage, and of every route that has no bound of its own. API Gateway cannot tell Projects and sources
 * apart: what bounds these are the shares that functions let them have (`shared/carry/shares.ts`). So its bounds are wide
 * enough for a function to refuse all that one of them sends beyond, in a few milliseconds each.
 */
export const stageThrottle: Throttle = { rate: 5000, burst: 5000 };

/** Of each route of a function, below the stage's: one kind of request leaves room for the others. */
export const routeThrottles: Readonly<Partial<Record<FunctionName, Throttle>>> = {
  'execute-by-id': { rate: 2000, burst: 2000 },
  'execute-by-identifier': { rate: 2000, burst: 2000 },
  token: { rate: 1000, burst: 1000 },
  login: { rate: 1000, burst: 1000 },
  invite: { rate: 500, burst: 500 },
  bots: { rate: 500, burst: 500 },
};

/** The HTTP API itself: origins, access log, throttling, name. Its routes are those of `functionRoutes`. */
export class PublicApi extends Construct {
  readonly api: HttpApi;
  /** Where the API is reached, without a closing slash: issuer and audience of its tokens. */
  readonly baseUrl: string;
  /** Its one stage, which holds the bounds of routes. */
  readonly served: CfnStage;
  /** Its own name, where it has one. */
  readonly domainName: DomainName | undefined;

  constructor(scope: Construct, id: string, stage: Stage, alarms: ITopic) {
    super(scope, id);
    const { domain, allowedOrigins } = stage;
    this.api = new HttpApi(this, 'Api', {
      apiName: `portico-${stage.name}`,
      createDefaultStage: false,
      // One name only: tokens name the base URL they are for.
      disableExecuteApiEndpoint: domain !== undefined,
      ...(allowedOrigins.length > 0 ? { corsPreflight: corsFor(allowedOrigins) } : {}),
    });
    this.baseUrl = domain ? `https://${domain.name}` : this.api.apiEndpoint;
    this.domainName =
      domain &&
      new DomainName(this, 'Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      });
    const served = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: stageThrottle.rate, burstLimit: stageThrottle.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(new KeptLogs(this, 'AccessLog', 'access')),
        format: AccessLogFormat.custom(accessLogFormat),
      },
      ...(this.domainName ? { domainMapping: { domainName: this.domainName } } : {}),
    });
    this.served = served.node.defaultChild as CfnStage;
    if (domain) watchCertificate(this, domain.certificateArn, alarms);
    new ImpactAlarm(this, 'Faults', {
      metric: this.api.metricServerError({ period: alarmPeriod }),
      impact:
        'Callers are answered 500 or 503: what they asked for did not happen or they cannot know. ' +
        'Search the functions’ logs for level ERROR; each entry has the trace id that the caller was given.',
      runbook: 'api-faults',
      topic: alarms,
    });
  }
}

/** Clients of this field send credentials, so each origin is echoed, never `*`. */
function corsFor(origins: readonly string[]): CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowCredentials: true,
    allowMethods: (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(
      (method) => CorsHttpMethod[method],
    ),
    allowHeaders: [...cors.allowHeaders],
    exposeHeaders: [...cors.exposeHeaders],
    maxAge: Duration.hours(2),
  };
}

/** No path, query string or source address: they can hold names, birth dates and e-mail addresses. */
const accessLogFormat = JSON.stringify({
  time: '$context.requestTime',
  requestId: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  responseBytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
});

/**
 * The routes of one function: one integration, one permission, one route per row. Authorisation is
 * the function's: it reads login and membership at every request, which an authorizer of the gateway
 * could only do by reading them twice or by trusting what it cached.
 */
export function functionRoutes(house: HouseFunction, api: HttpApi, name: FunctionName): CfnRoute[] {
  const { lambda } = house;
  const own = new Construct(house, 'Routes');
  // The higher-level construct stops at 29 s, which is when the function itself would end.
  const integration = new CfnIntegration(own, 'Integration', {
    apiId: api.apiId,
    integrationType: 'AWS_PROXY',
    integrationUri: lambda.functionArn,
    payloadFormatVersion: '2.0',
    timeoutInMillis: timeoutSeconds.api * 1000,
  });
  const made = routesOf(name).map(
    (route) =>
      new CfnRoute(own, route.name, {
        apiId: api.apiId,
        routeKey: routeKey(route),
        target: `integrations/${integration.ref}`,
        authorizationType: 'NONE',
      }),
  );
  Validations.of(own).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason: 'The function authorises, or the route is public: see the access column of the route table.',
  });
  lambda.addPermission('Gateway', {
    principal: new ServicePrincipal('apigateway.amazonaws.com'),
    sourceArn: Stack.of(own).formatArn({
      service: 'execute-api',
      resource: api.apiId,
      resourceName: '*/*',
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    }),
  });
  return made;
}

/** Gives the routes of these functions their bounds; a stage takes bounds only of routes that are there. */
export function throttleRoutes(stage: CfnStage, made: ReadonlyMap<FunctionName, readonly CfnRoute[]>): void {
  const settings: Record<string, object> = {};
  for (const [name, routes] of made) {
    const throttle = routeThrottles[name];
    if (!throttle) continue;
    for (const route of routesOf(name)) {
      settings[routeKey(route)] = {
        ThrottlingRateLimit: throttle.rate,
        ThrottlingBurstLimit: throttle.burst,
      };
    }
    for (const route of routes) stage.addResourceDependency(route);
  }
  stage.routeSettings = settings;
}
