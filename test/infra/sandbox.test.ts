import { describe, expect, it } from '@jest/globals';
import { actionsOf, functionsOf, ofType, only, stageTemplates, statementsOfRole } from './stage-templates.ts';

const { sandbox, api, outbox, provision, reindex } = stageTemplates();
const [invoker] = functionsOf(sandbox);

describe('the invoker', () => {
  it('is the only function of its stack', () => {
    expect(functionsOf(sandbox)).toHaveLength(1);
  });

  it('may write its own log and nothing else', () => {
    const statements = statementsOfRole(sandbox, invoker?.roleId ?? '');
    const log = only(sandbox, 'AWS::Logs::LogGroup');
    expect(actionsOf(statements)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    expect(statements.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [log.id, 'Arn'] }]);
    expect(sandbox[invoker?.roleId ?? '']?.Properties).not.toHaveProperty('ManagedPolicyArns');
    expect(sandbox[invoker?.roleId ?? '']?.Properties).not.toHaveProperty('Policies');
  });

  it('gives each Project execution environments of its own', () => {
    expect(invoker?.properties.TenancyConfig).toEqual({ TenantIsolationMode: 'PER_TENANT' });
  });

  it('has no environment, no URL and no public permission', () => {
    expect(invoker?.properties).not.toHaveProperty('Environment');
    expect(ofType(sandbox, 'AWS::Lambda::Url')).toEqual([]);
    expect(ofType(sandbox, 'AWS::Lambda::Permission')).toEqual([]);
  });

  it('may be invoked by the functions that run Bots, and by no other', () => {
    const mayInvoke = [api, outbox, provision, reindex].flatMap((resources) =>
      functionsOf(resources)
        .filter(({ roleId }) =>
          actionsOf(statementsOfRole(resources, roleId)).includes('lambda:InvokeFunction'),
        )
        .map(({ properties }) => properties.Description),
    );
    expect(mayInvoke.sort()).toEqual([
      'Creates and deploys Bots',
      'Runs a Bot named by an identifier',
      'Runs a Bot named by its id',
    ]);
  });
});
