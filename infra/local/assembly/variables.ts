import { localAws } from '../environment.ts';
import type { SynthesisedFunction } from './read-assembly.ts';

/**
 * Given beside the template's variables: they lead the clients to this machine's engines, and say what differs on it.
 * Nothing of a function's own configuration is among them.
 */
const ofThisMachine = [
  ...[
    'DYNAMODB_ENDPOINT',
    'LAMBDA_ENDPOINT',
    'JOBS_ENDPOINT',
    'SES_ENDPOINT',
    'EVENTS_ENDPOINT',
    'SUBSCRIPTION_MEMORY_SECONDS',
    'ACCESS_LOG',
  ],
  ...['STAGE', 'PORTICO_ALLOW_LOOPBACK_HOOKS', ...Object.keys(localAws)],
];

/** What this machine says wins over a stage's setting: its address, and sets of search parameters where it names some. */
const chosenHere = ['BASE_URL', 'SEARCH_PARAMETERS'];

/** What the templates refer to and a laptop's stack has no name for. */
export const onlyOnAws = { SES_CONFIGURATION_SET: 'portico-local' };

/**
 * The variables of the template, but what CloudFront proves to them, which nobody does here: what it refers to has this machine's value, what it says stands as it is.
 * @throws {Error} for a reference to what this machine does not have
 */
export function variablesOf(
  { folder, variables }: Pick<SynthesisedFunction, 'folder' | 'variables'>,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = Object.entries(variables).filter(([name]) => name !== 'ORIGIN_SECRETS');
  const told = own.map(([name, said]) => {
    const literal = typeof said === 'string' ? said : undefined;
    const value = (chosenHere.includes(name) && values[name]) || (literal ?? values[name]);
    if (value === undefined) throw new Error(`${folder} needs ${name}, which a laptop has nothing for`);
    return [name, value];
  });
  const engines = ofThisMachine.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...told, ...engines]);
}
