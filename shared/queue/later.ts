/** A message whose time has not come: it is to be given again after so many seconds, whole ones. */
export class Later extends Error {
  readonly seconds: number;

  constructor(ms: number) {
    super('Not yet');
    this.name = 'Later';
    this.seconds = Math.min(longestSeconds, Math.max(1, Math.ceil(ms / 1000)));
  }
}

/** SQS: twelve hours from when a message is received. */
const longestSeconds = 11 * 3600;
