import { describe, expect, it } from '@jest/globals';
import { actionsOf, functionsOf, ofType, stageTemplates, statementsOfRole } from './stage-templates.ts';

const { sandbox, api, events, provision, reindex } = stageTemplates();
const invokers = functionsOf(sandbox).map((one) => ({ ...one, label: String(one.properties.Description) }));

describe('the invokers', () => {
  it('are the only functions of their stack: for callers who wait, for jobs, for expressions', () => {
    expect(invokers.map(({ label }) => label).sort()).toEqual([
      'Evaluates expressions of Subscriptions in the sandbox',
      'Runs one Bot in the sandbox',
      'Runs one Bot in the sandbox, for jobs',
    ]);
  });

  it.each(invokers)('$label: may write its own log and nothing else', ({ roleId, properties }) => {
    const statements = statementsOfRole(sandbox, roleId);
    const { LogGroup } = properties.LoggingConfig as { LogGroup: { Ref: string } };
    expect(actionsOf(statements)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    expect(statements.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] }]);
    expect(sandbox[roleId]?.Properties).not.toHaveProperty('ManagedPolicyArns');
    expect(sandbox[roleId]?.Properties).not.toHaveProperty('Policies');
  });

  it.each(invokers)('$label: gives each Project execution environments of its own', ({ properties }) => {
    expect(properties.TenancyConfig).toEqual({ TenantIsolationMode: 'PER_TENANT' });
  });

  it('has no environment, no URL and no public permission', () => {
    for (const { properties } of invokers) expect(properties).not.toHaveProperty('Environment');
    expect(ofType(sandbox, 'AWS::Lambda::Url')).toEqual([]);
    expect(ofType(sandbox, 'AWS::Lambda::Permission')).toEqual([]);
  });

  it('each sound an alarm of their own when the sandbox does not come up', () => {
    const filters = ofType(sandbox, 'AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties);
    expect(filters.map(({ FilterPattern }) => FilterPattern)).toEqual(
      invokers.map(() => '{ $.message = "sandbox not started" }'),
    );
    const watched = ofType(sandbox, 'AWS::CloudWatch::Alarm').map(
      ([, { Properties }]) => Properties.MetricName,
    );
    for (const { MetricTransformations } of filters) {
      expect(watched).toContain((MetricTransformations as { MetricName: string }[])[0]?.MetricName);
    }
  });

  it('may be invoked by the functions that run Bots or start jobs, and by no other', () => {
    const mayInvoke = [api, events, provision, reindex].flatMap((resources) =>
      functionsOf(resources)
        .filter(({ roleId }) =>
          actionsOf(statementsOfRole(resources, roleId)).includes('lambda:InvokeFunction'),
        )
        .map(({ properties }) => properties.Description),
    );
    expect(mayInvoke.sort()).toEqual([
      'Creates and deploys Bots',
      'Decides which Subscriptions a change is for',
      'Runs Bots that nobody waits for',
      'Runs Bots whose schedules are due',
      'Runs a Bot named by an identifier',
      'Runs a Bot named by its id',
      'Wakes Bots and calls hooks for Subscriptions',
    ]);
  });

  it('are each invoked by who needs them: the one for expressions by who decides, and it runs no Bot', () => {
    const reached = (description: string) =>
      functionsOf(events)
        .filter(({ properties }) => properties.Description === description)
        .flatMap(({ roleId }) => statementsOfRole(events, roleId))
        .filter((statement) => actionsOf([statement]).includes('lambda:InvokeFunction'))
        .map(({ Resource }) => JSON.stringify(Resource));
    const ids = new Map(invokers.map(({ id, label }) => [label, id]));
    const of = (label: string) => [expect.stringContaining(String(ids.get(label)))];
    expect(reached('Decides which Subscriptions a change is for')).toEqual(
      of('Evaluates expressions of Subscriptions in the sandbox'),
    );
    expect(reached('Wakes Bots and calls hooks for Subscriptions')).toEqual(
      of('Runs one Bot in the sandbox'),
    );
  });

  it('are each invoked by who needs them: the one for jobs by jobs alone', () => {
    const long = functionsOf(sandbox).find(({ properties }) =>
      String(properties.Description).endsWith('for jobs'),
    );
    const reaching = functionsOf(api).filter(({ roleId }) =>
      JSON.stringify(statementsOfRole(api, roleId)).includes(String(long?.id)),
    );
    expect(reaching.map(({ properties }) => properties.Description)).toEqual([
      'Runs Bots that nobody waits for',
    ]);
  });
});
