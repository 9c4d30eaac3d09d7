import { describe, expect, it } from '@jest/globals';
import { actionsOf, functionsOf, ofType, stageTemplates, statementsOfRole } from './stage-templates.ts';

const { sandbox, api, events, provision, reindex } = stageTemplates();
const invokers = functionsOf(sandbox).map((one) => ({ ...one, label: String(one.properties.Description) }));

describe('the invokers', () => {
  it('are the only functions of their stack: one for callers who wait, one for jobs', () => {
    expect(invokers.map(({ label }) => label).sort()).toEqual([
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

  it('may be invoked by the functions that run Bots, and by no other', () => {
    const mayInvoke = [api, events, provision, reindex].flatMap((resources) =>
      functionsOf(resources)
        .filter(({ roleId }) =>
          actionsOf(statementsOfRole(resources, roleId)).includes('lambda:InvokeFunction'),
        )
        .map(({ properties }) => properties.Description),
    );
    expect(mayInvoke.sort()).toEqual([
      'Creates and deploys Bots',
      'Runs Bots that nobody waits for',
      'Runs a Bot named by an identifier',
      'Runs a Bot named by its id',
    ]);
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
