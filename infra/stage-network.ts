/** The stage's settings of the network: what invokers may reach, and what stands before the API. */

import { fieldsOf } from '../shared/base/values.ts';

/** Where invokers may connect to. */
export interface Egress {
  /** The API's own host first; `*.` before a name means all below it. */
  hosts: readonly string[];
}

/** What stands before the API: CloudFront with a web ACL. */
export interface Firewall {
  /** Of the domain's name, in us-east-1, where CloudFront wants it. */
  certificateArn: string;
  /** From one address, before it is refused. */
  requestsPerFiveMinutes: number;
  /** Networks whose requests are not counted: IPv4 in CIDR notation. */
  uncounted: readonly string[];
  /** Numbers of the secrets by which functions know CloudFront, from 1; it sends the first, they take all. */
  secrets: readonly number[];
  /** Functions refuse what did not come through it; `false` while names are moved to it or away from it. */
  enforced: boolean;
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

const edgeCertificate = /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/;
const network = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!\/)|\/(?=\d))){4}(3[0-2]|[12]?\d)$/;
/** Between what WAF takes and what nobody sends. */
const requests = { least: 100, usual: 10_000, most: 2_000_000 };

/**
 * `firewall` of a stage: `{"certificateArn", "requestsPerFiveMinutes", "uncounted", "secrets", "enforced"}`.
 * @param domain the stage's; its certificate serves when it is in us-east-1
 * @throws {Error} naming the setting
 */
export function readFirewall(
  label: string,
  value: unknown,
  domain: { certificateArn: string } | undefined,
): Firewall {
  const malformed = (name: string, wanted: string) =>
    new Error(`The setting ${label}${name} is malformed: ${wanted} (cdk.json, context)`);
  if (typeof value !== 'object' || value === null) throw malformed('', 'an object is expected');
  if (!domain) throw new Error(`The setting ${label} needs a domain, which leads to CloudFront then`);
  const {
    certificateArn = domain.certificateArn,
    requestsPerFiveMinutes = requests.usual,
    uncounted = [],
    secrets = [1],
    enforced = true,
    ...others
  } = fieldsOf(value);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw malformed(`.${unknown}`, 'there is no such setting');
  if (typeof certificateArn !== 'string' || !edgeCertificate.test(certificateArn)) {
    throw malformed('.certificateArn', 'the ARN of a certificate in us-east-1 is expected');
  }
  if (!isCount(requestsPerFiveMinutes, requests.least, requests.most)) {
    throw malformed('.requestsPerFiveMinutes', `${requests.least} to ${requests.most} are possible`);
  }
  if (!Array.isArray(uncounted) || !uncounted.every((one) => network.test(String(one)))) {
    throw malformed('.uncounted', 'IPv4 networks such as 198.51.100.7/32 are expected');
  }
  const isList = Array.isArray(secrets) && secrets.every((one) => isCount(one, 1, 999));
  if (!isList || secrets.length < 1 || secrets.length > 2 || secrets[0] === secrets[1]) {
    throw malformed('.secrets', 'one or two numbers from 1 are expected');
  }
  if (typeof enforced !== 'boolean') throw malformed('.enforced', 'true or false is expected');
  return { certificateArn, requestsPerFiveMinutes, uncounted, secrets: secrets as number[], enforced };
}

function isCount(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}
