import { Duration } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnStage,
  CorsHttpMethod,
  type CorsPreflightOptions,
  DomainName,
  HttpApi,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { cors } from '../cors.ts';
import { watchCertificate } from '../running/quota-alarms.ts';
import { stageThrottle } from '../running/throttles.ts';
import type { Stage } from '../stage.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';
import { KeptLogs } from './kept-logs.ts';

interface PublicApiProps {
  stage: Stage;
  alarms: ITopic;
}

/** The HTTP API itself: origins, access log, throttling, name. Its routes are RoutedFunction's. */
export class PublicApi extends Construct {
  readonly api: HttpApi;
  /** Where the API is reached, without a closing slash: issuer and audience of its tokens. */
  readonly baseUrl: string;
  /** Its one stage, which holds the bounds of routes. */
  readonly served: CfnStage;
  /** Its own name, where it has one. */
  readonly domainName: DomainName | undefined;

  constructor(scope: Construct, id: string, { stage, alarms }: PublicApiProps) {
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
    this.domainName = domain && this.#domainName(domain);
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

  #domainName({ name, certificateArn }: NonNullable<Stage['domain']>): DomainName {
    return new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
  }
}

/** Clients of this field send credentials, so each origin is echoed, never `*`. */
function corsFor(origins: readonly string[]): CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowCredentials: true,
    allowMethods: [
      CorsHttpMethod.GET,
      CorsHttpMethod.POST,
      CorsHttpMethod.PUT,
      CorsHttpMethod.PATCH,
      CorsHttpMethod.DELETE,
    ],
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
