import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';

/** The keys of a stage that shared/stage-keys.ts opens: neither ever leaves KMS. */
export class StageKeys extends Construct {
  /** RS256 for access tokens. KMS rotates no asymmetric keys. */
  readonly signing: Key;
  /** Wraps the stage secret, whose ciphertext lies in the table. */
  readonly wrapping: Key;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    this.signing = new Key(this, 'Signing', {
      description: `Portico ${stage.name}: signs access tokens`,
      keySpec: KeySpec.RSA_2048,
      keyUsage: KeyUsage.SIGN_VERIFY,
    });
    this.wrapping = new Key(this, 'Wrapping', {
      description: `Portico ${stage.name}: wraps the stage secret`,
      enableKeyRotation: true,
    });
  }

  /** What the environment variable KEYS says of them. */
  get specification(): string {
    return `kms:${this.signing.keyArn},${this.wrapping.keyArn}`;
  }
}
