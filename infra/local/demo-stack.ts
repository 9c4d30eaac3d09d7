import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callsTo, type DemoProject, demoToken } from './demo-projects.ts';
import { type Stack, startStack } from './stack.ts';

/** A stack on a fresh folder, with the first Project of its demo and an access token of that one's client. */
export interface DemoStack extends Stack {
  project: DemoProject;
  token: string;
  call: ReturnType<typeof callsTo>;
}

/** Does something with a stack of its own, of which nothing is left afterwards. @param name of what does it */
export async function withDemoStack(name: string, run: (stack: DemoStack) => Promise<void>): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), `portico-${name}-`));
  await using stack = await startStack({ dataDir: folder.path, port: 0 });
  const { baseUrl, demo } = stack;
  const [project] = demo.projects;
  if (!project) throw new Error('There is no demo Project');
  await run({ ...stack, project, token: await demoToken(baseUrl, project), call: callsTo(baseUrl) });
}
