import type { Ran } from './trial.ts';
import { type Call, takenOf } from './ways.ts';
import { anonymous } from './world.ts';

/** What an undisturbed run comes to, and another one of the same after it. */
export interface Calm {
  once: Ran;
  twice: Ran;
}

/** What may be answered to who asks again: it is there already, or gone. */
const clearNo = [404, 409, 410, 412];

/**
 * What is wrong with a run that met a fault, and with the undisturbed one after it.
 * @param later the undisturbed ones after it; none when it was answered as ever
 */
export function faultsOf(calm: Calm, met: Ran, later: readonly Ran[], isOnce = false): string[] {
  const { once, twice } = calm;
  const again = later.at(-1);
  const wrong: string[] = [];
  const isDone = met.status === once.status && !again;
  const isNo = met.status === 409 || met.status === 429;
  const isTold = met.status === once.status || isNo || (met.status === 503 && met.isLater === true);
  if (!isTold) wrong.push(`told ${met.status} ${met.text}`);
  for (const { pk, sk, text } of [...met.violations, ...(again?.violations ?? [])])
    wrong.push(`${pk} ${sk}: ${text}`);
  if (isDone && !same(met, once)) wrong.push(`done, and left ${differences(met, once)}`);
  // A mail of which nobody can know, or note, that it was sent comes again rather than never.
  const wasLost = met.calls.some(
    (call, i) => isSent(call) && (call.isLost || isOutOfReach(met.calls.slice(i + 1))),
  );
  const mails = mailsIn([met, ...later]);
  if (!wasLost && mails > mailsIn([once])) wrong.push(`${mails} mails`);
  const sent = [met, ...later].flatMap(sentIn);
  const isHandled = isDone || again?.status === once.status;
  // A job that may have been started is not started twice: whether it was is seen at the job, which ends by its time.
  const jobs = met.calls.filter(({ service }) => service === 'jobs');
  const isAtJob = isDone && jobs.length > 0 && jobs.every(({ isSilent }) => isSilent);
  const missing = (isHandled && !isOnce ? sentIn(once) : []).filter(
    (one) => !sent.includes(one) && !(isAtJob && one.startsWith('jobs ')),
  );
  if (missing.length > 0) wrong.push(`never sent: ${missing.join()}`);
  if (!again) return wrong;
  // KMS is asked before anything is done that cannot be done again.
  if (struck(met)?.service === 'kms' && again.status !== once.status) {
    wrong.push(`told ${again.status} after KMS had failed: ${again.text}`);
  }
  const isAgain = [once.status, twice.status].includes(again.status);
  if (!isAgain && !clearNo.includes(again.status)) wrong.push(`told ${again.status} again: ${again.text}`);
  const isWhole =
    same(again, once) ||
    same(again, twice) ||
    (!isAgain && again.stands.length === 0) ||
    isWaitingBeside(again, once);
  if (!isWhole && !isOnce) wrong.push(`left ${differences(again, once)}`);
  return wrong;
}

/** The call at which a run met its fault. */
function struck({ calls }: Ran): Call | undefined {
  return calls.find(({ status, isLost }) => status === undefined || isLost);
}

/** Whether a run came to what another one did: what a second one would come to is not asked then. */
export function isAs(a: Ran, b: Ran): boolean {
  return a.status === b.status && same(a, b);
}

function same(a: Ran, b: Ran): boolean {
  return JSON.stringify(a.stands) === JSON.stringify(b.stands);
}

const login = /^L#ID HEAD (?!.*\bgranted\b).*\bttl\b/;
const mirror = /^U#ID L .*\bttl\b/;

/**
 * A login that was begun by a sign-in that failed stands beside: nobody was told its id or its code, so nobody goes on
 * with it; it is no session, a change of the password ends it too, and it goes by its time.
 */
function isWaitingBeside(again: Ran, once: Ran): boolean {
  const more = beyond(again.stands, once.stands);
  const [logins, mirrors] = [login, mirror].map((kind) => more.filter((one) => kind.test(one)).length);
  const isLess = beyond(once.stands, again.stands).length > 0;
  return !isLess && logins === mirrors && more.length === 2 * (logins ?? 0);
}

/** Of the first what the second has not as often. */
function beyond(all: readonly string[], known: readonly string[]): string[] {
  const left = [...known];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Waiting mails are items of the table; these were handed to the mail service. */
function mailsIn(rans: readonly Ran[]): number {
  return rans.flatMap((ran) => ran.calls).filter(isSent).length;
}

function isSent({ service, status }: Call): boolean {
  return service === 'mail' && status === 200;
}

/** Repeats included: who gives up at one no has not found everything out of reach. */
function isOutOfReach(calls: readonly Call[]): boolean {
  return calls.length > 1 && calls.every(({ status }) => status === undefined);
}

/** What other services were given, without what differs from one run of the same to the next. */
function sentIn({ calls }: Ran): string[] {
  return takenOf(calls).flatMap(({ service, operation, request }) => {
    const { QueueUrl = '', Entries = [{}] } = request;
    const queue = String(QueueUrl).split('/').at(-1);
    const bodies = (Entries as { MessageBody?: string }[]).map(({ MessageBody = '' }) => MessageBody);
    return bodies.map((body) => `${service} ${operation} ${queue} ${anonymous(body)}`);
  });
}

function differences({ stands }: Ran, { stands: wanted }: Ran): string {
  const more = stands.filter((one) => !wanted.includes(one)).map((one) => `+ ${one}`);
  const less = wanted.filter((one) => !stands.includes(one)).map((one) => `- ${one}`);
  return [`${stands.length} for ${wanted.length}`, ...more, ...less]
    .map((one) => one.slice(0, 300))
    .join('\n');
}
