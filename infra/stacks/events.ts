import { CfnOutput, Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { functionNames, routesOf } from '../../functions/routes.ts';
import { type Purpose, purposes } from '../../shared/queue/purposes.ts';
import { recordOf } from '../../shared/typed-keys.ts';
import { apiFunctions } from '../api-functions.ts';
import { keepAccessLines, keepCallersLines } from '../constructs/access-lines.ts';
import { scheduleFindings } from '../constructs/findings.ts';
import { FunctionRoutes } from '../constructs/function-routes.ts';
import { environmentOf, type Ground, statementsOf } from '../constructs/grants.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { LogAlarm } from '../constructs/log-alarm.ts';
import { watchAccess, watchAudit, watchRecords } from '../constructs/lost-records.ts';
import { MailService } from '../constructs/mail-service.ts';
import { PurposeQueue } from '../constructs/purpose-queue.ts';
import { StreamDispatcher } from '../constructs/stream-dispatcher.ts';
import { originEnvironment } from '../edge/origin-secrets.ts';
import { eventFunctions } from '../event-functions.ts';
import { permissions, type QueueConsumer } from '../permissions.ts';
import { queues } from '../queues.ts';
import type { Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { isBehindQueues, runBounds } from './api.ts';

interface EventsStackProps extends StackProps {
  stage: Stage;
  ground: Ground;
  alarms: ITopic;
  api: HttpApi;
}

/** What follows a change in the table: the dispatcher, a queue for each purpose, and who takes from it. */
export class EventsStack extends Stack {
  readonly queues: Readonly<Record<Purpose, PurposeQueue>>;

  constructor(scope: Construct, id: string, { stage, ground, alarms, api, ...props }: EventsStackProps) {
    super(scope, id, props);
    const made = recordOf(
      purposes,
      (purpose) => new PurposeQueue(this, `${purpose}-queue`, { definition: queues[purpose], alarms }),
    );
    const bus = new EventBus(this, 'Bus', {
      eventBusName: `portico-${stage.name}`,
      description: 'What happens in Portico: docs/events.md',
    });
    new CfnOutput(this, 'EventBus', { value: bus.eventBusArn });
    const whole: Ground = { ...ground, queues: made, bus };
    this.queues = made;
    new StreamDispatcher(this, 'Stream', { ground: whole, alarms });

    const mail = new MailService(this, 'Ses', stage);
    const consumer = (
      folder: QueueConsumer,
      more: Partial<Pick<HouseProps, 'environment' | 'statements'>> = {},
    ) =>
      new HouseFunction(this, folder, {
        folder,
        ...eventFunctions[folder],
        memoryMb: 512,
        environment: { ...environmentOf(permissions[folder], whole), ...more.environment },
        statements: [...statementsOf(permissions[folder], whole), ...(more.statements ?? [])],
        alarms,
      });
    const functions: Record<QueueConsumer, HouseFunction> = {
      outbox: consumer('outbox', { environment: mail.environment, statements: [mail.sendStatement()] }),
      'index-upkeep': consumer('index-upkeep'),
      audit: consumer('audit'),
      match: consumer('match'),
      'subscription-status': consumer('subscription-status'),
      bus: consumer('bus'),
      export: consumer('export'),
      deliver: consumer('deliver', { environment: runBounds(stage) }),
    };
    watchRecords(this, [functions.deliver], alarms);
    keepAccessLines(functions.deliver, stage);
    for (const purpose of purposes) made[purpose].feed(functions[queues[purpose].consumer].lambda);
    mail.tell(functions.outbox.lambda);
    mail.watchReputation(alarms);
    mail.acknowledgeFor(functions.outbox.role);
    const behindQueues = functionNames.filter(isBehindQueues).map((name) => {
      const house = new HouseFunction(this, `api-${name}`, {
        folder: name,
        ...apiFunctions[name],
        memoryMb: 512,
        environment: { ...environmentOf(permissions[name], whole), ...originEnvironment(stage) },
        statements: statementsOf(permissions[name], whole),
        alarms,
      });
      keepCallersLines(house, stage);
      new FunctionRoutes(house, 'Routes', { api, lambda: house.lambda, routes: routesOf(name) });
      return house;
    });
    watchAudit(this, behindQueues, alarms);
    watchAccess(this, [...behindQueues, functions.deliver], alarms);
    // A rule has five targets at most.
    for (const { lambda, node } of Object.values(functions)) {
      const sweep = new Rule(this, `Sweep-${node.id}`, {
        description: 'What was left undone is tried again',
        schedule: Schedule.rate(Duration.minutes(10)),
        targets: [new LambdaFunction(lambda, { retryAttempts: 0 })],
      });
      Validations.of(sweep).acknowledge(...scheduleFindings);
    }
    const tick = new HouseFunction(this, 'tick', {
      folder: 'tick',
      description: 'Runs Bots whose schedules are due',
      timeoutSeconds: timeoutSeconds.tick,
      memoryMb: 512,
      environment: { ...environmentOf(permissions.tick, whole), ...runBounds(stage) },
      statements: statementsOf(permissions.tick, whole),
      impact: 'Bots with a schedule run late. Each runs once when this works again.',
      alarms,
    });
    const minute = new Rule(this, 'Minute', {
      description: 'Schedules of Bots are looked at',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(tick.lambda, { retryAttempts: 0 })],
    });
    Validations.of(minute).acknowledge(...scheduleFindings);
    new LogAlarm(tick, 'Late', {
      logGroups: [tick.logGroup],
      runbook: 'schedules-late',
      message: 'schedule late',
      impact:
        'Bots with a schedule were run more than five minutes late. Look at the errors of the function.',
      alarms,
    });
    new LogAlarm(functions.outbox, 'Unsent', {
      logGroups: [functions.outbox.logGroup],
      runbook: 'mail-not-sent',
      message: 'mail not sent',
      impact:
        'The mail service refused invitations: those people wait. Every ten minutes they are tried again. ' +
        'Look whether SES has verified the sender and left its sandbox.',
      alarms,
    });
    new LogAlarm(this, 'UnreadSubscriptions', {
      logGroups: [functions.match.logGroup, functions.deliver.logGroup],
      runbook: 'subscription-not-read',
      message: 'subscription not read',
      impact:
        'A stored Subscription cannot be read by this release: changes are not told to its receiver, and those of ' +
        'this time never will be by themselves.',
      atOnce: true,
      alarms,
    });
    new LogAlarm(functions['index-upkeep'], 'Unswept', {
      logGroups: [functions['index-upkeep'].logGroup],
      runbook: 'leftovers-not-swept',
      message: 'cut-off write not swept',
      impact: 'Writes that were cut off have left items behind, which lead nowhere. Nobody sees them.',
      alarms,
    });
  }
}

type HouseProps = ConstructorParameters<typeof HouseFunction>[2];
