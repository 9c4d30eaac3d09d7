/** The stage's settings of the network: what invokers may reach. */

import { fieldsOf } from '../shared/fields-of.ts';

/** Where invokers may connect to. */
export interface Egress {
  /** The API's own host first; `*.` before a name means all below it. */
  hosts: readonly string[];
}

/** What the filter's rules have room for. */
const mostHosts = 200;
const hostName = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * `egress` of a stage: `{"hosts": […]}`. The API's host is added.
 * @param apiHost the name in `domain`; without it the API's host is one of API Gateway's, known only when it is made
 * @throws {Error} naming the setting
 */
export function readEgress(label: string, value: unknown, apiHost: string | undefined): Egress {
  const { hosts, ...others } = fieldsOf(value);
  if (!Array.isArray(hosts) || Object.keys(others).length > 0) {
    throw new Error(`The setting ${label} is malformed: {"hosts": […]} is expected (cdk.json, context)`);
  }
  const wrong = hosts.find((host) => typeof host !== 'string' || !hostName.test(host));
  if (wrong !== undefined) {
    throw new Error(
      `The setting ${label}.hosts names ${JSON.stringify(wrong)}: a host name in lower case is expected, or *. and one`,
    );
  }
  if (hosts.length > mostHosts)
    throw new Error(`The setting ${label}.hosts has more than ${mostHosts} names`);
  if (apiHost === undefined) {
    throw new Error(
      `The setting ${label} needs a domain: invokers reach the API by its name (cdk.json, context)`,
    );
  }
  return { hosts: [...new Set([apiHost, ...(hosts as string[])])] };
}
