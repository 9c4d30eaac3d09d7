/** The example Bots, by their names; each is loaded when it is chosen. */
const sources = import.meta.glob<string>('../../../examples/bots/*.ts', { query: '?raw', import: 'default' });

export const templates = Object.keys(sources)
  .map((path) => ({ path, name: /([^/]+)\.ts$/.exec(path)?.[1] ?? path }))
  .map(({ path, name }) => ({ value: path, label: name.replaceAll('-', ' ') }));

export async function readTemplate(path: string): Promise<string> {
  const read = sources[path];
  if (!read) throw new Error('There is no such template');
  return read();
}
