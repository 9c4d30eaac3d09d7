import type { FunctionName } from '../functions/routes.ts';
import { timeoutSeconds } from './timeouts.ts';

interface ApiFunction {
  description: string;
  timeoutSeconds: number;
  /** What people notice when it fails. */
  impact: string;
}

/** The functions behind the routes: their folders are their names. */
export const apiFunctions: Record<FunctionName, ApiFunction> = {
  invite: {
    description: 'Invites people into a Project',
    // Two hundred rows of a file.
    timeoutSeconds: timeoutSeconds.execute,
    impact: 'Administrators cannot invite people. Nothing half-done is left behind: they can try again.',
  },
  'execute-by-id': {
    description: 'Runs a Bot named by its id',
    timeoutSeconds: timeoutSeconds.execute,
    impact:
      'Messages for Bots addressed by id are answered 5xx. Senders that repeat may run a Bot twice: ' +
      'compare with the execution records of the minutes in question.',
  },
  'execute-by-identifier': {
    description: 'Runs a Bot named by an identifier',
    timeoutSeconds: timeoutSeconds.execute,
    impact:
      'Messages for Bots addressed by identifier are answered 5xx. Senders that repeat may run a Bot ' +
      'twice: compare with the execution records of the minutes in question.',
  },
  token: {
    description: 'Issues access tokens, publishes their keys',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Programs get no new tokens: within the hour every client is locked out.',
  },
  login: {
    description: 'Signs people in, says who they are',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'People cannot sign in, and clients cannot find out who they are signed in as.',
  },
  members: {
    description: 'Reads and changes Projects and their members',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Administrators cannot see or change members, or create API keys.',
  },
  bots: {
    description: 'Creates and deploys Bots',
    timeoutSeconds: timeoutSeconds.execute,
    impact: 'Authors cannot create or deploy Bots. Bots that are deployed go on running.',
  },
  subscriptions: {
    description: 'Lists deliveries of Subscriptions, has them made again',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Administrators cannot look at deliveries. Subscriptions go on.',
  },
  resources: {
    description: 'The FHIR API, and every path that is no route',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Resources cannot be read or written.',
  },
  site: {
    description: 'Serves the administration app',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'The administration app does not open, and links in mails lead nowhere. The API goes on.',
  },
};
