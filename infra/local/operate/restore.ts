import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { connectDynamoDb } from '../../../shared/aws/wire/dynamodb.ts';
import { errorName } from '../../../shared/base/values.ts';
import { scanPage } from '../../../shared/carry/table/scan-page.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import { command, flag, text } from '../../command.ts';
import { prepareRestored } from '../../recover/prepare-restored.ts';
import { tableDefinition } from '../../table-definition.ts';
import { tableOptions, tableTarget } from './table-target.ts';

/**
 * `npm run restore`: docs/recover.md. Makes a new table of a deployed one as it was at a moment, makes it fit to be used
 * before anybody can use it, and then gives it what point-in-time recovery leaves out. Run again, it goes on: each step
 * is done once or does no harm twice.
 */
const usage = `npm run restore -- --stage <stage> --at <instant> --to <new name> [--without-lost]
npm run restore -- --table <name> --region <region> --at <instant> --to <new name> [--without-lost]
  --stage         whose table is lost; or the table itself, by its name
  --at            such as 2026-01-31T12:00:00Z
  --to            the table that is made; one that is there already is made fit to be used
  --without-lost  the lost table cannot be read: nothing that was taken back since then is taken back again
`;
const askEveryMs = 10_000;
const scannedTogether = 1000;

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (errorName(error) === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

async function untilActive(client: DynamoDBClient, name: string): Promise<TableDescription> {
  for (;;) {
    const table = await describe(client, name);
    if (table?.TableStatus === 'ACTIVE') return table;
    say(`${name} is ${table?.TableStatus ?? 'not there yet'}`);
    await pause(askEveryMs);
  }
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

/** Without a zone it would be a time of this machine's, hours from the one that was written down. */
function instantOf(given = ''): Date {
  const at = new Date(given);
  if (/T.*(Z|[+-]\d\d:\d\d)$/.test(given) && !Number.isNaN(at.getTime())) return at;
  throw new Error(`--at ${given} is no instant: 2026-01-31T12:00:00Z is one, in UTC`);
}

const options = { ...tableOptions, at: text, to: text, 'without-lost': flag };
await command(usage, { failed: 2, options }, async ({ values }) => {
  const { stage, table, region, to } = values;
  const at = instantOf(values.at);
  if ((stage === undefined) === (table === undefined) || (table && !region) || !to)
    throw new Error('Which table, where, and what is the new one called?');
  const { name: from } = await tableTarget(values);
  if (from === to) throw new Error('The new table needs a name of its own');
  say(`${from} as it was at ${at.toISOString()} becomes ${to}`);
  const canReadLost = values['without-lost'] !== true;
  const client = new DynamoDBClient({});
  if (!(await describe(client, to))) {
    // The restored table would otherwise be under a key of DynamoDB's own.
    const key = (await describe(client, from))?.SSEDescription?.KMSMasterKeyArn;
    const names = { SourceTableName: from, TargetTableName: to, RestoreDateTime: at };
    const underKey = {
      SSESpecificationOverride: { Enabled: true, SSEType: 'KMS', KMSMasterKeyId: key },
    } as const;
    await client.send(new RestoreTableToPointInTimeCommand({ ...names, ...(key ? underKey : {}) }));
  }
  const made = await untilActive(client, to);
  if (made.StreamSpecification?.StreamEnabled !== true) {
    say('the table is there; it is made fit to be used');
    const documents = connectDynamoDb(undefined);
    const prepared = await prepareRestored({
      table: openTable(documents, to, Date.now),
      scan: (next) => scanPage(documents, to, { from: next, limit: scannedTogether }),
      lost: canReadLost ? openTable(documents, from, Date.now) : undefined,
      ...{ atMs: at.getTime(), now: Date.now, newId: randomUUID },
    });
    process.stdout.write(`${JSON.stringify(prepared, null, 2)}\n`);
    // Only now: what was done so far is told to nobody.
    const StreamSpecification = { StreamEnabled: true, StreamViewType: tableDefinition.stream };
    await client.send(
      new UpdateTableCommand({ TableName: to, DeletionProtectionEnabled: true, StreamSpecification }),
    );
  }
  const { LatestStreamArn } = await untilActive(client, to);
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName: to, PointInTimeRecoverySpecification }));
  const TimeToLiveSpecification = { Enabled: true, AttributeName: tableDefinition.ttlAttribute };
  await client
    .send(new UpdateTimeToLiveCommand({ TableName: to, TimeToLiveSpecification }))
    .catch((error: unknown) => {
      // It is enabled already.
      if (errorName(error) !== 'ValidationException') throw error;
    });
  say('set restoredTable of the stage in cdk.json to the following, and deploy');
  process.stdout.write(`${LatestStreamArn}\n`);
});
