import { Duration, SecretValue, Validations } from 'aws-cdk-lib';
import type { IDomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { originHeader } from '../../shared/carry/keys/origin-secret.ts';
import { type Finding, inBoth } from '../constructs/findings.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import type { Stage } from '../stage.ts';

/**
 * Generates the secrets by which the stage's functions know their front. They have names, so that no stack exports
 * them: a number that goes does so before the stacks that have used it change.
 */
export function makeOriginSecrets(scope: Construct, stage: Stage): void {
  for (const number of stage.firewall?.secrets ?? []) {
    const secret = new Secret(scope, `Origin${number}`, {
      secretName: nameOf(stage, number),
      description: `Portico ${stage.name}: shows the API that a request came through CloudFront`,
      generateSecretString: { excludePunctuation: true, passwordLength: 48 },
    });
    Validations.of(secret).acknowledge(...secretFindings);
  }
}

/** The environment of functions behind the API: all secrets, in an order that a rotation does not change. */
export function originEnvironment(stage: Stage): Record<string, string> {
  const { firewall } = stage;
  if (!firewall?.enforced) return {};
  const numbers = [...firewall.secrets].sort((a, b) => a - b);
  return { ORIGIN_SECRETS: numbers.map((number) => resolved(stage, number)).join() };
}

function nameOf({ name }: Stage, number: number): string {
  return `portico-${name}-origin-${number}`;
}

/** A dynamic reference: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html */
function resolved(stage: Stage, number: number): string {
  return SecretValue.secretsManager(nameOf(stage, number)).unsafeUnwrap();
}

const replaced =
  'CloudFront and functions take the value when they are deployed: it is replaced in two phases by deploying ' +
  '(docs/deploy.md), which no timer may do alone.';

const secretFindings: readonly Finding[] = [
  { id: 'AwsSolutions-SMG4', reason: replaced },
  ...inBoth('SecretsManagerRotationEnabled', replaced),
  ...inBoth(
    'SecretsManagerUsingKMSKey',
    'It is encrypted under the service’s key. The same value stands in the configuration of CloudFront and of functions; ' +
      'it opens no data, it only shows that a request came through CloudFront.',
  ),
];

/**
 * CloudFront before the API: it keeps nothing and changes nothing, gives the web ACL what to judge, and proves to
 * functions by a header that a request came through it. The host stays the API's own, which tokens name.
 * @param origin the API's own name, as API Gateway serves it
 */
export class Front extends Distribution {
  constructor(scope: Construct, stage: Stage, origin: IDomainName, webAclArn: string) {
    const { firewall, domain } = stage;
    if (!firewall || !domain) throw new Error('A front needs a domain');
    const own = new Construct(scope, 'Front');
    super(own, 'Distribution', {
      comment: `portico-${stage.name}`,
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(own, 'Certificate', firewall.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2,
      // As API Gateway, whose name it takes over.
      enableIpv6: false,
      webAclId: webAclArn,
      defaultBehavior: {
        origin: new HttpOrigin(origin.regionalDomainName, {
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          // API Gateway answers before.
          readTimeout: Duration.seconds(timeoutSeconds.front),
          // The first secret. CloudFormation puts the value in when it deploys.
          customHeaders: { [originHeader]: resolved(stage, firewall.secrets[0] ?? 1) },
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER,
        compress: false,
      },
    });
    Validations.of(this).acknowledge(
      {
        id: 'AwsSolutions-CFR1',
        reason: 'Where patients and their carers may call from is their provider’s to say.',
      },
      {
        id: 'AwsSolutions-CFR3',
        reason:
          'CloudFront’s log would hold paths, queries and addresses, which the house keeps out of logs. API Gateway and the ' +
          'functions log each request; the web ACL logs what did not reach them.',
      },
    );
  }
}
