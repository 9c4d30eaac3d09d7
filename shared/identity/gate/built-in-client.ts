/** A client that belongs to no Project and has no secret. */
interface BuiltInClient {
  redirectUris: readonly string[];
}

/**
 * The command line client of this field asks for codes without PKCE, and takes them on one port of
 * the person's own machine: the only client that may do without, and only there.
 */
const builtIn: ReadonlyMap<string, BuiltInClient> = new Map([
  ['medplum-cli', { redirectUris: ['http://localhost:9615'] }],
]);

/** Whether a client is the own app or a built-in one: such a login is no app's of others. */
export function isOwnClient(clientId: string): boolean {
  return clientId === '' || builtIn.has(clientId);
}

export function builtInClient(clientId: string): BuiltInClient | undefined {
  return builtIn.get(clientId);
}
