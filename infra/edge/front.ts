import { Duration, Validations } from 'aws-cdk-lib';
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
import { Construct } from 'constructs';
import { originHeader } from '../../shared/keys/origin-secret.ts';
import type { Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { sentSecret } from './origin-secrets.ts';

interface FrontProps {
  stage: Stage;
  /** The API's own name, as API Gateway serves it. */
  origin: IDomainName;
  webAclArn: string;
}

/**
 * CloudFront before the API: it keeps nothing and changes nothing, gives the web ACL what to judge, and proves to
 * functions by a header that a request came through it. The host stays the API's own, which tokens name.
 */
export class Front extends Construct {
  readonly distribution: Distribution;

  constructor(scope: Construct, id: string, { stage, origin, webAclArn }: FrontProps) {
    super(scope, id);
    const { firewall, domain } = stage;
    if (!firewall || !domain) throw new Error('A front needs a domain');
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `portico-${stage.name}`,
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', firewall.certificateArn),
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
          customHeaders: { [originHeader]: sentSecret(stage) },
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER,
        compress: false,
      },
    });
    Validations.of(this.distribution).acknowledge(
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
