import type { CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import type { FunctionName } from '../../functions/routes.ts';
import { routesOf } from '../../functions/routes.ts';
import { routeKey } from '../../shared/http/row.ts';
import type { FunctionRoutes } from '../constructs/function-routes.ts';
import { routeThrottles } from './throttles.ts';

/** Gives the routes of these functions their bounds; a stage takes bounds only of routes that are there. */
export function throttleRoutes(stage: CfnStage, made: ReadonlyMap<FunctionName, FunctionRoutes>): void {
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
    for (const route of routes.made) stage.addResourceDependency(route);
  }
  stage.routeSettings = settings;
}
