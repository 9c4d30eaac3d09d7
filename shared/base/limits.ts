/** Every bound that more than one place holds, once. docs and `metadata` say the same. */

/** SPEC section 9: a request body, decoded, and a result. */
export const longestBodyBytes = 4 * 1024 * 1024;

/** SPEC section 9: what a run may print. */
export const longestLogBytes = 256 * 1024;

/** SPEC section 9: how deep JSON nests, in requests and in results. */
export const deepestJson = 128;

/**
 * What an answer may hold as text: Lambda answers at most 6 MB (6,291,556 bytes) with the text escaped
 * inside JSON, and a base64 body a third longer than its bytes.
 */
export const longestAnswerBytes = 4_600_000;

/** What the entries of a Bundle may hold together, as JSON text in UTF-8: the rest of the page follows in the next. */
export const mostEntryBytes = 3_500_000;

/** Until a connection to somebody else's server is there, TLS included; in milliseconds. */
export const longestConnectMs = 10_000;

/** A resource that requests read on their way to something else: a policy, a membership, a Bot, … */
export const longestInlineBytes = 64 * 1024;

/** Values of one resource that searches look at: each is an item of the table. */
export const mostIndexItems = 4000;

/** Resources that a transaction changes: DynamoDB takes 100 items at once, one of them is the audit entry. */
export const mostTransactionWrites = 99;

/** Conditional references of a transaction: each is a search. */
export const mostTransactionConditions = 100;

/** Entries of a batch. */
export const mostBatchEntries = 500;

/** Values of a JSON body that we work on: objects, lists and what is in them. */
export const mostJsonValues = 60_000;

/** Characters of one value of a search. */
export const longestSearchValue = 1000;

/** Positions of compiled code that are kept with it; of code with more none are, and errors name its own lines. */
export const mostPlaces = 200_000;

/** Runs that one run may bring about, one inside the other; deliveries of what they write count as well. */
export const deepestRun = 8;

/** Records of a page that `$explain` shows with a member's eyes: each is matched against all of their rules. */
export const mostExplained = 50;

/** After how many minutes without use a Project may have people signed out. */
export const idleMinutesBounds = { least: 10, most: 1440 };

/** RFC 9470, `max_age`: how long after a sign-in its person may do what can take or lock an account. */
export const signInMaxAgeSeconds = 300;

/** Addresses that may fail to sign in from one source in a quarter of an hour, where the stage says nothing else. */
export const usualFailedAddresses = 20;

/** Addresses whose passwords are forgotten at one source in that time. */
export const mostResets = 60;

/** How long a function keeps what it has read of the stage's keys: it knows of a change within that time. */
export const stageKeyRereadMs = 600_000;

/** A version of a key that is not known yet is looked for at most so often: anybody may name one. */
export const stageKeyLookAgainMs = 10_000;

/** How long a page that shows the secret of a second factor may stay open before it is enrolled, where the key has changed. */
export const longestEnrolmentMs = 3_600_000;

/**
 * So long the dispatcher waits before it answers that records have to be given again because a queue or the table
 * did not answer: retries are counted, and an outage must not use them up. Seconds.
 */
export const dispatchPauseSeconds = 10;
