import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type ModuleName, nodeModules } from '../../shared/sandbox/modules.ts';

const require = createRequire(import.meta.url);

/** Where a Bot's module comes from: a package where there is a good one, else the guest's own. */
export function moduleSource(name: ModuleName): string {
  if (name === 'events') return require.resolve('events/events.js');
  const isOfNode = nodeModules.some((known) => known === name);
  const file = isOfNode ? `node-${name}` : name.replace('portico:', '');
  return fileURLToPath(new URL(`../../shared/sandbox/guest/node/${file}.ts`, import.meta.url));
}
