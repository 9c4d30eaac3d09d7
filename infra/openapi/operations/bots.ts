import { secretsBody } from '../../../shared/bots/bot/change-secrets.ts';
import { createBotBody } from '../../../shared/bots/bot/create-bot.ts';
import { deployBody } from '../../../shared/bots/bot/deploy-bot.ts';
import { fetchHostsBody } from '../../../shared/bots/bot/fetch-hosts.ts';
import { rollBackBody } from '../../../shared/bots/bot/versions.ts';
import type { InputType } from '../../../shared/bots/run/contract.ts';
import { redeliverBody, resendBody } from '../../../shared/records/subscriptions/deliveries.ts';
import {
  answersFhir,
  answersJson,
  type Body,
  type DescribedAnswer,
  idempotent,
  json,
  paged,
  ref,
  refused,
  type WordsOf,
} from '../words.ts';

const names = answersJson('SecretNames', 'The names; no value ever leaves');
const hosts = answersJson('FetchHosts', 'Where Bots may fetch from');

export const bots: WordsOf<'bots'> = {
  createBot: {
    summary: 'Create a Bot with its membership, its own identity',
    headers: idempotent,
    body: json(createBotBody),
    answers: { 201: answersFhir('Bot', 'The Bot'), 409: refused('A Bot with this identifier exists') },
  },
  failures: {
    summary: 'The Bots and Subscriptions that failed in the last 24 hours',
    answers: {
      200: answersJson('Failures', 'Of 50 Bots and 100 Subscriptions the latest 20 runs or attempts each'),
    },
  },
  fetchHosts: { summary: 'Where the Bots of the Project may fetch from', answers: { 200: hosts } },
  changeFetchHosts: {
    summary: 'Say where the Bots of the Project may fetch from',
    body: json(fetchHostsBody),
    answers: { 200: hosts },
  },
  projectSecrets: { summary: 'The names of the secrets of the Project', answers: { 200: names } },
  changeProjectSecrets: {
    summary: 'Replace the secrets of the Project; an entry with a name only keeps its value',
    body: json(secretsBody),
    answers: { 200: names },
  },
  botSecrets: { summary: 'The names of the secrets of a Bot', answers: { 200: names } },
  changeBotSecrets: {
    summary: 'Replace the secrets of a Bot; an entry with a name only keeps its value',
    body: json(secretsBody),
    answers: { 200: names },
  },
  deployBot: {
    summary: 'Deploy code, or without a body what executableCode or sourceCode names',
    body: { ...json(deployBody), isOptional: true },
    answers: { 429: refused('Others are deployed or run, and there was no time left to wait for') },
  },
  rollBackBot: {
    summary: 'Go back to a version that was deployed before',
    body: json(rollBackBody),
    answers: { 404: refused('No such Bot, or no such version') },
  },
  botLogs: {
    summary: 'What a Bot has run, with its logs',
    query: {
      outcome: '`success`, `failure` or `unknown`',
      date: 'When it ran, with the prefixes of a search',
      requester: 'Who ran it',
      trace: 'A trace id',
      ...paged,
    },
    answers: { 200: answersFhir('Parameters', 'A page of runs') },
  },
  botCode: {
    summary: 'The code of a version of a Bot',
    query: { version: 'A hash that `$versions` names; without it what runs' },
    answers: {
      200: answersFhir('Parameters', 'Its hash, file name and text'),
      404: refused('No such Bot, no such version, or nothing is deployed'),
    },
  },
  botFigures: {
    summary: 'How a Bot has done in the last 24 hours',
    answers: { 200: answersFhir('Parameters', 'Runs, failures, p50 and p95 of the time') },
  },
  botVersions: {
    summary: 'The versions of a Bot that were deployed',
    query: paged,
    answers: { 200: answersFhir('Parameters', 'A page of versions') },
  },
};

const anything = { description: 'What the Bot returned' };
const input: Body = {
  content: {
    'text/plain': { type: 'string' },
    'application/json': { description: 'Any JSON' },
    'application/x-www-form-urlencoded': { type: 'object', additionalProperties: { type: 'string' } },
    'application/fhir+json': { type: 'object' },
    'x-application/hl7-v2+er7': { type: 'string', description: 'An HL7 v2 message' },
  } satisfies Record<InputType, object>,
  isOptional: true,
};
const answers: Record<number, DescribedAnswer> = {
  200: {
    description: 'What the Bot returned; without a result an OperationOutcome',
    content: {
      'application/json': anything,
      'application/fhir+json': ref('Resource'),
      'text/plain': { type: 'string' },
      'x-application/hl7-v2+er7': { type: 'string' },
    },
  },
  202: refused('Accepted, with `Prefer: respond-async`; Content-Location is where to look'),
  400: refused('The input is not valid, or the Bot failed: it threw, or met a limit'),
  404: refused('No such Bot'),
  409: refused('It may have run'),
  429: refused('It was not run: send it again later'),
  503: refused('It was not run: no sandbox started'),
};
const headers = {
  ...idempotent,
  Prefer: '`respond-async` answers at once and runs for up to 14 minutes',
  'X-Run-Key': 'Chosen by the caller, who may cancel the run with it while it goes on',
};

export const executeById: WordsOf<'execute-by-id'> = {
  executeById: { summary: 'Run a Bot', headers, body: input, answers },
};

export const executeByIdentifier: WordsOf<'execute-by-identifier'> = {
  executeByIdentifier: {
    summary: 'Run a Bot by its identifier',
    query: { 'identifier!': '`<system>|<value>`' },
    headers,
    body: input,
    answers,
  },
};

const unavailable = refused('Try again shortly: nothing was queued');

export const subscriptions: WordsOf<'subscriptions'> = {
  deliveries: {
    summary: 'What a Subscription has delivered: an AuditEvent an attempt',
    query: { outcome: '`success`, `failure` or `unknown`', ...paged },
    answers: { 200: answersFhir('Bundle', 'A page of attempts') },
  },
  redeliver: {
    summary: 'Have a delivery that has ended made again',
    body: json(redeliverBody),
    answers: { 404: refused('No such Subscription, or no such delivery'), 503: unavailable },
  },
  resend: {
    summary: 'Decide again which Subscriptions the last change of a record is for',
    body: { ...json(resendBody), isOptional: true },
    answers: { 503: unavailable },
  },
};
