import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';

/** The keys of a stage that shared/stage-keys.ts opens: neither ever leaves KMS. */
export class StageKeys extends Construct {
  /** RS256 for access tokens. KMS rotates no asymmetric keys: `signingKeys` of the stage does. */
  readonly signing: Key;
  /** Published, and signing nothing: the next one, or the one before. */
  readonly published: readonly Key[];
  /** Wraps the stage's secret keys, each for its purpose, which lie wrapped in the table. */
  readonly wrapping: Key;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    // Those that were retired too, so that no stack gives up what another one imports.
    const made = Array.from({ length: Math.max(...stage.signingKeys) }, (_, i) => {
      const key = new Key(this, i === 0 ? 'Signing' : `Signing${i + 1}`, {
        description: `Portico ${stage.name}: signs access tokens`,
        keySpec: KeySpec.RSA_2048,
        keyUsage: KeyUsage.SIGN_VERIFY,
      });
      key.stack.exportValue(key.keyArn);
      return key;
    });
    const [signing, ...published] = stage.signingKeys.flatMap((number) => made[number - 1] ?? []);
    if (!signing) throw new Error('No key signs');
    this.signing = signing;
    this.published = published;
    this.wrapping = new Key(this, 'Wrapping', {
      description: `Portico ${stage.name}: wraps the secret keys of the stage`,
      enableKeyRotation: true,
    });
  }

  /** What the environment variable KEYS says of them. */
  get specification(): string {
    return `kms:${[this.signing, this.wrapping, ...this.published].map((key) => key.keyArn).join()}`;
  }
}
