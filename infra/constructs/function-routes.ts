import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import { CfnIntegration, CfnRoute, type HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Route } from '../../functions/routes.ts';
import { routeKey } from '../../shared/http/row.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface FunctionRoutesProps {
  api: HttpApi;
  lambda: IFunction;
  routes: readonly Route[];
}

/**
 * The routes of one function: one integration, one permission, one route per row. Authorisation is
 * the function's: it reads login and membership at every request, which an authorizer of the gateway
 * could only do by reading them twice or by trusting what it cached.
 */
export class FunctionRoutes extends Construct {
  readonly made: readonly CfnRoute[];

  constructor(scope: Construct, id: string, { api, lambda, routes }: FunctionRoutesProps) {
    super(scope, id);
    // The higher-level construct stops at 29 s, which is when the function itself would end.
    const integration = new CfnIntegration(this, 'Integration', {
      apiId: api.apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: lambda.functionArn,
      payloadFormatVersion: '2.0',
      timeoutInMillis: timeoutSeconds.api * 1000,
    });
    this.made = routes.map(
      (route) =>
        new CfnRoute(this, route.name, {
          apiId: api.apiId,
          routeKey: routeKey(route),
          target: `integrations/${integration.ref}`,
          authorizationType: 'NONE',
        }),
    );
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'The function authorises, or the route is public: see the access column of the route table.',
    });
    lambda.addPermission('Gateway', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: api.apiId,
        resourceName: '*/*',
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      }),
    });
  }
}
