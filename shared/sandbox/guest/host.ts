/** The ways out of the isolate: an operation's name and strings. Never handed to the Bot. */
export type Call = (operation: string, ...parts: string[]) => string | undefined;

let boundCall: Call | undefined;
let boundPost: Call | undefined;

/** Called once, before any code of the Bot. */
export function bindHost(call: Call, post: Call): void {
  boundCall = call;
  boundPost = post;
}

/** Waits for the host, so that a Bot in a loop cannot pile up work for it. */

export function call(operation: string, ...parts: string[]): string | undefined {
  const [a = '', b = '', c = '', d = '', e = ''] = parts;
  return boundCall?.(operation, a, b, c, d, e);
}

/** Does not wait: for messages that are sent once in a run. */
export function post(operation: string, ...parts: string[]): void {
  const [a = '', b = '', c = '', d = '', e = ''] = parts;
  boundPost?.(operation, a, b, c, d, e);
}
