/** The one way out of the isolate: an operation's name and strings. Never handed to the Bot. */
export type Call = (operation: string, ...parts: string[]) => string | undefined;

let bound: Call | undefined;

/** Called once, before any code of the Bot. */
export function bindHost(call: Call): void {
  bound = call;
}

export function call(operation: string, ...parts: string[]): string | undefined {
  const [a = '', b = '', c = '', d = '', e = ''] = parts;
  return bound?.(operation, a, b, c, d, e);
}
