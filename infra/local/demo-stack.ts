import { mkdtemp, rm } from 'node:fs/promises';
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
  const dataDir = await mkdtemp(join(tmpdir(), `portico-${name}-`));
  try {
    const stack = await startStack({ dataDir, port: 0 });
    const { baseUrl, demo } = stack;
    try {
      const [project] = demo.projects;
      if (!project) throw new Error('There is no demo Project');
      await run({ ...stack, project, token: await demoToken(baseUrl, project), call: callsTo(baseUrl) });
    } finally {
      await stack.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
