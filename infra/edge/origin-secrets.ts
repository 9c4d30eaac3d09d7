import { SecretValue, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { type Finding, inBoth } from '../constructs/findings.ts';
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

/** What CloudFront sends: the first secret. CloudFormation puts the value in when it deploys. */
export function sentSecret(stage: Stage): string {
  const [first = 1] = stage.firewall?.secrets ?? [];
  return resolved(stage, first);
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
