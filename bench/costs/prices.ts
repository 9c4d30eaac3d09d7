/**
 * AWS's list prices in USD of us-east-1, on demand, beyond every free tier, as they were known when this was
 * written: look them up for your region. https://aws.amazon.com/pricing
 */
export const prices = {
  /** HTTP API. */
  apiRequest: 1 / 1e6,
  lambdaRequest: 0.2 / 1e6,
  /** Of arm64. */
  lambdaGbSecond: 0.0000133334,
  readUnit: 0.125 / 1e6,
  writeUnit: 0.625 / 1e6,
  /** By an RSA key of 2048 bits. */
  signature: 0.03 / 10_000,
  logGb: 0.5,
  queueRequest: 0.4 / 1e6,
  keyMonth: 1,
  /** Beyond an account's first three. */
  dashboardMonth: 3,
  alarmMetricMonth: 0.1,
  customMetricMonth: 0.3,
  firewallEndpointHour: 0.395,
  natGatewayHour: 0.045,
  publicAddressHour: 0.005,
  webAclMonth: 5,
  webAclRuleMonth: 1,
  secretMonth: 0.4,
} as const;

export const hoursOfMonth = 730;
