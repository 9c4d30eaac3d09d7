import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, jest, test } from '@jest/globals';
import { functionNames } from '../../functions/routes.ts';
import { consoleLog } from '../../shared/base/log.ts';
import { errorLines, errorsOfFunctions } from './error-lines.ts';
import {
  functionsOf,
  ofType,
  only,
  type Resource,
  resourcesOf,
  stageTemplates,
  statementsOfRole,
  wholeTemplates,
} from './stage-templates.ts';
import { stages } from './stages.ts';

const largeWhole = wholeTemplates('large');
const large = resourcesOf(largeWhole);
const small = stageTemplates();
const page = readFileSync(resolve(import.meta.dirname, '../../docs/operate.md'), 'utf8');

function deployedIn(templates: typeof small) {
  return Object.values(templates).flatMap((resources: Record<string, Resource>) =>
    functionsOf(resources).map(({ properties, roleId }) => ({
      name: String(properties.Description),
      properties,
      variables:
        (properties.Environment as { Variables: Record<string, string> } | undefined)?.Variables ?? {},
      statements: statementsOfRole(resources, roleId),
    })),
  );
}

/** What filters on logs look for, in whose log, and where the alarm on it leads. */
function linesWithAlarms(resources: Record<string, Resource>) {
  return ofType(resources, 'AWS::Logs::MetricFilter').map(([, { Properties }]) => {
    const { FilterPattern, LogGroupName, MetricTransformations } = Properties as {
      FilterPattern: string;
      LogGroupName: { Ref: string };
      MetricTransformations: [{ MetricName: string; MetricNamespace: string; MetricValue: string }];
    };
    const house = functionsOf(resources).find(
      ({ properties }) =>
        (properties.LoggingConfig as { LogGroup: { Ref: string } }).LogGroup.Ref === LogGroupName.Ref,
    );
    const [{ MetricName, MetricNamespace: Namespace, MetricValue }] = MetricTransformations;
    expect(MetricValue).toBe('1');
    const [alarm] = ofType(resources, 'AWS::CloudWatch::Alarm').filter(
      ([, { Properties: own }]) => own.MetricName === MetricName && own.Namespace === Namespace,
    );
    return {
      folder: String(resources[house?.roleId ?? '']?.Properties.Description).split(':')[0] ?? '',
      message: /^\{ \$\.message = "(.+)" \}$/.exec(FilterPattern)?.[1] ?? '',
      entry: entryOf(String(alarm?.[1].Properties.AlarmDescription)),
    };
  });
}

/** The entries of docs/operate.md. */
const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);

/** The entry of docs/operate.md that an alarm names. */
const entryOf = (description: string) => /docs\/operate\.md#([a-z-]+)\.$/.exec(description)?.[1];

describe('an alarm', () => {
  const alarms = Object.values(large).flatMap((resources: Record<string, Resource>) =>
    ofType(resources, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({ id, ...Properties })),
  ) as { id: string; AlarmDescription: string; EvaluationPeriods: number; DatapointsToAlarm: number }[];

  it.each(alarms)('$id leads to an entry of docs/operate.md', ({ AlarmDescription }) => {
    expect(page).toContain(`\n### ${entryOf(AlarmDescription)}\n`);
  });

  it('is what every entry is about', () => {
    const entries = new Set(alarms.map(({ AlarmDescription }) => entryOf(AlarmDescription)));
    expect(headings.toSorted()).toEqual([...entries].sort());
  });

  it('on a function goes off when it is only throttled: then it has no invocations, and no errors are counted', () => {
    const own = Object.values(small).flatMap((resources: Record<string, Resource>) =>
      ofType(resources, 'AWS::CloudWatch::Alarm').filter(([, { Properties }]) =>
        JSON.stringify(Properties.Metrics ?? '').includes('"Throttles"'),
      ),
    );
    expect(own.length).toBe(deployedIn(small).length);
    for (const [, { Properties }] of own) {
      const [sum] = Properties.Metrics as { Expression: string }[];
      expect(sum?.Expression).toBe('FILL(errors, 0) + FILL(throttles, 0)');
    }
  });

  it('needs two periods of three, unless something is lost or the period is a day', () => {
    const atOnce = alarms.filter(({ EvaluationPeriods }) => EvaluationPeriods === 1);
    expect(new Set(atOnce.map(({ AlarmDescription }) => entryOf(AlarmDescription)))).toEqual(
      new Set([
        'audit-entry-lost',
        'execution-record-lost',
        'access-record-lost',
        'emergency-unasked',
        'subscription-not-read',
        'stream-given-up',
        'certificate-expires',
      ]),
    );
    const others = alarms.filter((alarm) => !atOnce.includes(alarm));
    for (const { EvaluationPeriods, DatapointsToAlarm } of others) {
      expect([EvaluationPeriods, DatapointsToAlarm]).toEqual([3, 2]);
    }
  });

  it('on a function goes off when it fails each time that a schedule calls it, however seldom', () => {
    const schedules = Object.values(large).flatMap((resources: Record<string, Resource>) =>
      ofType(resources, 'AWS::Events::Rule').flatMap(([, { Properties }]) => {
        const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(String(Properties.ScheduleExpression)) ?? [];
        if (minutes === undefined) return [];
        return (Properties.Targets as { Arn: { 'Fn::GetAtt': [string, string] } }[]).map(({ Arn }) => ({
          ...{ resources, minutes: Number(minutes), target: Arn['Fn::GetAtt'][0] },
        }));
      }),
    );
    expect(schedules.map(({ minutes }) => minutes)).toEqual(expect.arrayContaining([1, 5, 10]));
    for (const { resources, minutes, target } of schedules) {
      const [alarm] = ofType(resources, 'AWS::CloudWatch::Alarm').filter(([, { Properties }]) =>
        JSON.stringify(Properties.Metrics ?? '').includes(`"Ref":"${target}"`),
      );
      if (!alarm) throw new Error(`No alarm on ${target}`);
      const { Metrics, EvaluationPeriods, DatapointsToAlarm } = alarm[1].Properties as {
        Metrics: { MetricStat?: { Period: number } }[];
        EvaluationPeriods: number;
        DatapointsToAlarm: number;
      };
      const period = Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? 0;
      const looked = (EvaluationPeriods * period) / 60;
      expect(Math.ceil(looked / minutes)).toBeGreaterThanOrEqual(DatapointsToAlarm);
    }
  });
});

/** By which dimensions AWS counts what alarms watch: by others there would be no data, and no alarm. */
const countedBy: Readonly<Record<string, readonly string[]>> = {
  'AWS/ApiGateway 5xx': ['ApiId'],
  'AWS/CertificateManager DaysToExpiry': ['CertificateArn'],
  'AWS/DynamoDB ReadThrottleEvents': ['TableName'],
  'AWS/DynamoDB WriteThrottleEvents': ['TableName'],
  'AWS/Lambda ClaimedAccountConcurrency': [],
  'AWS/Lambda Errors': ['FunctionName'],
  'AWS/Lambda IteratorAge': ['FunctionName'],
  'AWS/Lambda OnFailureDestinationDeliveredEventCount': ['EventSourceMappingUUID'],
  'AWS/Lambda Throttles': ['FunctionName'],
  'AWS/SES Reputation.BounceRate': ['ses:configuration-set'],
  'AWS/SES Reputation.ComplaintRate': ['ses:configuration-set'],
  'AWS/SQS ApproximateAgeOfOldestMessage': ['QueueName'],
  'AWS/SQS ApproximateNumberOfMessagesVisible': ['QueueName'],
};

interface Watched {
  Namespace?: string;
  MetricName?: string;
  Dimensions?: { Name: string }[];
}

test('an alarm watches a metric by the dimensions that it is counted by', () => {
  const alarms = Object.values(large).flatMap((resources: Record<string, Resource>) =>
    ofType(resources, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties),
  ) as (Watched & { Metrics?: { MetricStat?: { Metric: Watched } }[] })[];
  const watched = alarms.flatMap(({ Metrics, ...alone }) =>
    Metrics ? Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [alone],
  );
  // Those of its own come from filters on logs, without dimensions.
  const found = watched.map(({ Namespace, MetricName, Dimensions = [] }) => [
    Namespace === 'Portico' ? 'Portico' : `${Namespace} ${MetricName}`,
    Dimensions.map(({ Name }) => Name),
  ]);
  for (const [metric, dimensions] of found)
    expect([metric, dimensions]).toEqual([metric, { Portico: [], ...countedBy }[String(metric)]]);
  expect([...new Set(found.map(([metric]) => metric))].sort()).toEqual(
    ['Portico', ...Object.keys(countedBy)].sort(),
  );
});

test('who deploys with a domain is told where its name has to lead', () => {
  const { OriginName } = largeWhole.api.Outputs ?? {};
  expect(OriginName?.Value).toEqual({
    'Fn::GetAtt': [only(large.api, 'AWS::ApiGatewayV2::DomainName').id, 'RegionalDomainName'],
  });
});

describe('a line that functions log as an error', () => {
  const watched = Object.values(small).flatMap(linesWithAlarms);
  const logged = [...errorsOfFunctions.values()].flatMap((messages) => [...messages]);

  it('is known, with who learns of it', () => {
    expect([...new Set(logged)].sort()).toEqual(Object.keys(errorLines).sort());
    for (const told of Object.values(errorLines)) {
      const [entry] = 'noLoss' in told ? [] : Object.values(told);
      if (entry !== undefined) expect(headings).toContain(entry);
    }
  });

  it('sounds its alarm from the log of each function that may log it, and no other line does', () => {
    const wanted = [...errorsOfFunctions].flatMap(([folder, messages]) =>
      [...messages].flatMap((message) => {
        const told = errorLines[message];
        return told && 'alarm' in told ? [`${folder}: ${message} > ${told.alarm}`] : [];
      }),
    );
    const found = watched.map(({ folder, message, entry }) => `${folder}: ${message} > ${entry}`);
    expect([...new Set(found)].sort()).toEqual(wanted.sort());
  });

  it('is printed as the filters look for it', () => {
    const print = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    for (const { message } of watched) consoleLog.error(message, { error: 'Fault' });
    const printed = print.mock.calls.map(([line]) => JSON.parse(String(line)).message);
    print.mockRestore();
    expect(printed).toEqual(watched.map(({ message }) => message));
  });
});

describe('concurrency', () => {
  const reserved = (templates: typeof small) =>
    deployedIn(templates).flatMap(({ name, properties }) => {
      const share = properties.ReservedConcurrentExecutions;
      return share === undefined ? [] : [[name, Number(share)] as const];
    });

  it('is shared out where the account has it: sign-in has its own whatever Bots do, and who runs Bots is bounded', () => {
    expect(Object.fromEntries(reserved(large))).toEqual({
      'Issues access tokens, publishes their keys': 80,
      'Signs people in': 80,
      'Says who is signed in, and does what is their own': 80,
      'Reads and changes Projects and their members': 40,
      'Runs a Bot named by its id': 120,
      'Runs a Bot named by an identifier': 120,
      'Runs Bots that nobody waits for': 50,
    });
  });

  it('leaves Lambda the 100 that it asks for, from the smallest account on that shares', () => {
    for (const name of ['shared', 'large'] as const) {
      const { accountConcurrency } = stages[name];
      const shares = reserved(stageTemplates(name));
      const sum = shares.reduce((total, [, share]) => total + share, 0);
      expect(accountConcurrency - sum).toBeGreaterThanOrEqual(100);
    }
  });

  it('of the API is shared by Projects and sources, as the stage says', () => {
    const told = deployedIn(large).filter(({ variables }) => 'ACCOUNT_CONCURRENCY' in variables);
    // Of the API all but what has no table.
    expect(told).toHaveLength(functionNames.length - 1);
    for (const { variables } of told)
      expect(variables).toMatchObject({ ACCOUNT_CONCURRENCY: '1000', PROJECT_SHARE: '40' });
    expect(deployedIn(small).filter(({ variables }) => variables.ACCOUNT_CONCURRENCY === '10')).toHaveLength(
      told.length,
    );
  });

  it('is not reserved in a new account, which may reserve none', () => {
    expect(reserved(small)).toEqual([]);
  });

  it('of one Project is bounded by the stage in what starts runs, and nowhere else', () => {
    const bounded = deployedIn(large).filter(({ variables }) => variables.PROJECT_RUNS === '75');
    expect(bounded.map(({ name }) => name).sort()).toEqual([
      'Runs Bots whose schedules are due',
      'Runs a Bot named by an identifier',
      'Runs a Bot named by its id',
      'Wakes Bots and calls hooks for Subscriptions',
    ]);
    const bounds = ({ variables }: { variables: object }) =>
      'PROJECT_RUNS' in variables || 'STARTED_RUNS' in variables;
    expect(deployedIn(small).filter(bounds)).toEqual([]);
    // Half of what jobs have at once: 5 % of 1,000.
    expect(new Set(bounded.map(({ variables }) => variables.STARTED_RUNS))).toEqual(new Set(['25']));
  });
});

describe('bounds of routes', () => {
  const served = only(small.api, 'AWS::ApiGatewayV2::Stage');
  const settings = served.Properties.RouteSettings as Record<string, Record<string, number>>;

  it('leave room for others: none takes all that the stage bears', () => {
    expect(
      settings['POST /fhir/R4/Bot/{botId}/$execute'] ?? settings['POST /fhir/R4/Bot/{id}/$execute'],
    ).toEqual({
      ThrottlingRateLimit: 2000,
      ThrottlingBurstLimit: 2000,
    });
    for (const { ThrottlingRateLimit } of Object.values(settings)) {
      expect(ThrottlingRateLimit).toBeLessThan(5000);
    }
  });

  it('are of routes that are made before them: API Gateway refuses others', () => {
    const routes = new Map(
      ofType(small.api, 'AWS::ApiGatewayV2::Route').map(([id, { Properties }]) => [
        String(Properties.RouteKey),
        id,
      ]),
    );
    const dependencies = (served as unknown as { DependsOn: string[] }).DependsOn;
    for (const key of Object.keys(settings)) expect(dependencies).toContain(routes.get(key));
  });
});

describe('tracing', () => {
  it('is of every function but those where customers’ code runs', () => {
    for (const { name, properties, statements } of deployedIn(large)) {
      const isInvoker = /in the sandbox/.test(name);
      const mayTrace = statements.some(({ Action }) => [Action].flat().includes('xray:PutTraceSegments'));
      expect([name, properties.TracingConfig, mayTrace]).toEqual([
        name,
        isInvoker ? undefined : { Mode: 'Active' },
        !isInvoker,
      ]);
    }
  });

  it('is off unless the stage asks for it', () => {
    for (const { properties } of deployedIn(small)) expect(properties).not.toHaveProperty('TracingConfig');
  });
});

describe('whether it is well', () => {
  const dashboard = only(small.watch, 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(dashboard.Properties.DashboardBody);

  it('is said by a dashboard that finds the stage’s metrics by its name, and needs no other stack', () => {
    expect(dashboard.Properties.DashboardName).toBe('portico-test-eu-west-1');
    for (const metric of [
      'Errors',
      'Throttles',
      'IteratorAge',
      'ConcurrentExecutions',
      'QueueAge',
      'Latency',
    ]) {
      expect(body).toContain(`MetricName=\\\\\\"${metric}\\\\\\"`);
    }
    expect(body).toContain('Portico/test');
    expect(body).not.toContain('ImportValue');
  });

  it('is looked at from outside every five minutes, by a function that may do nothing else', () => {
    const [canary] = deployedIn({ watch: small.watch } as typeof small);
    expect(canary?.statements.flatMap(({ Action }) => Action).sort()).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);
    expect(Object.keys(canary?.variables ?? {})).toEqual(['BASE_URL']);
    expect(only(small.watch, 'AWS::Events::Rule').Properties.ScheduleExpression).toBe('rate(5 minutes)');
  });

  it('is counted by the functions that work on the table, unless the stage says no', () => {
    const counting = deployedIn(small).filter(({ variables }) => variables.METRICS !== undefined);
    expect(counting.map(({ variables }) => variables.METRICS)).toContain('test/token');
    for (const { variables } of deployedIn(small)) {
      expect(variables.METRICS !== undefined).toBe(variables.TABLE_NAME !== undefined);
    }
    expect(deployedIn(large).filter(({ variables }) => 'METRICS' in variables)).toEqual([]);
  });
});

/** Services by the types of their resources; those without a name hold nothing of anybody. */
const servicesOfTypes: Readonly<Record<string, string | undefined>> = {
  ApiGatewayV2: 'API Gateway',
  CloudFormation: 'CloudFormation',
  CloudWatch: 'CloudWatch',
  DynamoDB: 'DynamoDB',
  Events: 'EventBridge',
  IAM: undefined,
  KMS: 'KMS',
  Lambda: 'Lambda',
  Logs: 'CloudWatch',
  S3: 'S3',
  SES: 'SES',
  SNS: 'SNS',
  SQS: 'SQS',
};

test('docs/hipaa.md names every service that a stage uses, for the agreement with AWS', () => {
  const hipaa = readFileSync(resolve(import.meta.dirname, '../../docs/hipaa.md'), 'utf8');
  const list = /Portico keeps or moves data through ([^.]*)\./s.exec(hipaa)?.[1]?.replace(/\s+/g, ' ') ?? '';
  const types = [large, small].flatMap((templates) =>
    Object.values(templates).flatMap((resources: Record<string, Resource>) =>
      Object.values(resources).map(({ Type }) => Type.split('::')),
    ),
  );
  const used = new Set(types.filter(([vendor]) => vendor === 'AWS').map(([, service = '']) => service));
  expect([...used].sort()).toEqual(Object.keys(servicesOfTypes).sort());
  for (const name of Object.values(servicesOfTypes)) if (name) expect(list).toContain(name);
});
