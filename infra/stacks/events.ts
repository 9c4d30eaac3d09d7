import { CfnOutput } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { EventBus } from 'aws-cdk-lib/aws-events';
import type { Construct } from 'constructs';
import { functionNames } from '../../functions/routes.ts';
import { recordOf, typedKeys } from '../../shared/base/values.ts';
import { type Purpose, purposes } from '../../shared/carry/work/queue.ts';
import { watchLogs } from '../constructs/alarms.ts';
import { type FunctionGrant, type Ground, granted } from '../constructs/grants.ts';
import { HouseFunction, keepAccessLines, keepCallersLines } from '../constructs/house-function.ts';
import { mailService } from '../constructs/mail-service.ts';
import { functionRoutes } from '../constructs/public-api.ts';
import { type PurposeQueue, purposeQueue } from '../constructs/purpose-queue.ts';
import { StreamDispatcher } from '../constructs/stream-dispatcher.ts';
import { apiFunctions, eventFunctions, type QueueConsumer, timeoutSeconds } from '../deployed-functions.ts';
import { originEnvironment } from '../edge/front.ts';
import { queues } from '../queues.ts';
import { isBehindQueues, runBounds } from './api.ts';
import { type GroundedParts, onSchedule, StageStack } from './stage-stack.ts';

/** What follows a change in the table: the dispatcher, a queue for each purpose, and who takes from it. */
export class EventsStack extends StageStack {
  readonly queues: Readonly<Record<Purpose, PurposeQueue>>;

  constructor(app: Construct, { stage, ground, alarms, api }: GroundedParts & { api: HttpApi }) {
    super(app, stage, 'events');
    const made = recordOf(purposes, (purpose) =>
      purposeQueue(this, `${purpose}-queue`, queues[purpose], alarms),
    );
    const bus = new EventBus(this, 'Bus', {
      eventBusName: `portico-${stage.name}`,
      description: 'What happens in Portico: docs/events.md',
    });
    new CfnOutput(this, 'EventBus', { value: bus.eventBusArn });
    const whole: Ground = { ...ground, queues: made, bus };
    this.queues = made;
    new StreamDispatcher(this, 'Stream', { ground: whole, alarms });

    const mail = mailService(this, stage);
    const more: Partial<Record<QueueConsumer, FunctionGrant>> = {
      outbox: mail.sending,
      deliver: { environment: runBounds(stage) },
    };
    const consumer = (folder: QueueConsumer) =>
      new HouseFunction(this, folder, {
        ...granted(folder, whole, more[folder]),
        ...eventFunctions[folder],
        memoryMb: 512,
        alarms,
      });
    const functions = recordOf(typedKeys(eventFunctions), consumer);
    watchLogs(this, 'LostRecords', [functions.deliver], alarms);
    keepAccessLines(functions.deliver, stage);
    for (const purpose of purposes) made[purpose].feed(functions[queues[purpose].consumer].lambda);
    mail.tell(functions.outbox, alarms);
    const behindQueues = functionNames.filter(isBehindQueues).map((name) => {
      const house = new HouseFunction(this, `api-${name}`, {
        ...granted(name, whole, { environment: originEnvironment(stage) }),
        ...apiFunctions[name],
        memoryMb: 512,
        alarms,
      });
      keepCallersLines(house, stage);
      functionRoutes(house, api, name);
      return house;
    });
    watchLogs(this, 'LostAudit', behindQueues, alarms);
    watchLogs(this, 'LostAccess', [...behindQueues, functions.deliver], alarms);
    // A rule has five targets at most.
    for (const { lambda, node } of Object.values(functions)) {
      onSchedule(this, `Sweep-${node.id}`, 'What was left undone is tried again', 10, lambda);
    }
    const tick = new HouseFunction(this, 'tick', {
      ...granted('tick', whole, { environment: runBounds(stage) }),
      description: 'Runs Bots whose schedules are due',
      timeoutSeconds: timeoutSeconds.tick,
      memoryMb: 512,
      impact: 'Bots with a schedule run late. Each runs once when this works again.',
      alarms,
    });
    onSchedule(this, 'Minute', 'Schedules of Bots are looked at', 1, tick.lambda);
    watchLogs(tick, 'Late', [tick], alarms);
    watchLogs(functions.outbox, 'Unsent', [functions.outbox], alarms);
    watchLogs(this, 'UnreadSubscriptions', [functions.match, functions.deliver], alarms);
    watchLogs(functions['index-upkeep'], 'Unswept', [functions['index-upkeep']], alarms);
  }
}
