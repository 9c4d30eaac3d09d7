import type { IAspect } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup, LogGroup, type LogGroupProps, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import type { Retention } from '../stage.ts';

/** A log group of this house: the stage says how long its kind is kept, see `LogsKept`. */
export class KeptLogs extends LogGroup {
  readonly kind: keyof Retention;

  /** @param own a name, and a key, where the stage's is in another region */
  constructor(
    scope: Construct,
    id: string,
    kind: keyof Retention = 'functions',
    own: Pick<LogGroupProps, 'logGroupName' | 'encryptionKey'> = {},
  ) {
    super(scope, id, { retention: RetentionDays.THREE_MONTHS, ...own });
    this.kind = kind;
  }
}

/** Gives every log group of the app the stage's key unless it has one of its own, and the days of its kind. */
export class LogsKept implements IAspect {
  readonly #key: IKey;
  readonly #retention: Retention;

  constructor(key: IKey, retention: Retention) {
    this.#key = key;
    this.#retention = retention;
  }

  visit(node: IConstruct): void {
    if (!(node instanceof CfnLogGroup)) return;
    const { scope } = node.node;
    if (!(scope instanceof KeptLogs))
      throw new Error(`${node.node.path} is no KeptLogs: how long is it kept?`);
    node.kmsKeyId ??= this.#key.keyArn;
    node.retentionInDays = this.#retention[scope.kind];
  }
}
