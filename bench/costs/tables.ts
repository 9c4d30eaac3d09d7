import { ofType, type Resource, stageTemplates } from '../../test/infra/stage-templates.ts';
import { startStage } from '../../test/storage/stage.ts';
import { startJobs } from '../counted/jobs.ts';
import { idleLines } from './idle.ts';
import { linesTable } from './line.ts';
import { egressLines, firewallLines } from './options.ts';
import { type Assumed, environmentLines, type Memory, uses, usesTable } from './use.ts';

const synthesised = () => ({ plain: stageTemplates(), options: stageTemplates('filtered') });
let templatesOnce: ReturnType<typeof synthesised> | undefined;

/** The tables of docs/cost.md by name, from the templates of stages and from units that are counted now. */
export async function costTables(
  assumed: Assumed,
): Promise<Record<'idle' | 'egress' | 'firewall' | 'use' | 'environments', string>> {
  templatesOnce ??= synthesised();
  const { plain, options } = templatesOnce;
  const templates = Object.values(plain);
  const stage = await startStage();
  try {
    const { costs } = await startJobs(stage);
    const memory = memoryOf(templates);
    return {
      idle: linesTable('a month without a call', idleLines(templates.flatMap(Object.values<Resource>))),
      egress: linesTable('filtered egress, a month', egressLines(Object.values(options.network))),
      firewall: linesTable(
        'a firewall, a month without a request',
        firewallLines(Object.values(options.edge), Object.values(options.data)),
      ),
      use: usesTable(uses(await costs(), memory, assumed)),
      environments: linesTable('a thousand environments of tenants', environmentLines(memory, assumed)),
    };
  } finally {
    await stage.stop();
  }
}

function memoryOf(templates: readonly Record<string, Resource>[]): Memory {
  const functions = templates.flatMap((resources) => ofType(resources, 'AWS::Lambda::Function'));
  const gb = (name: string) => {
    const [, found] = functions.find(([id]) => id.startsWith(name)) ?? [];
    if (!found) throw new Error(`No template has a function ${name}`);
    return Number(found.Properties.MemorySize) / 1024;
  };
  return { api: gb('executebyid'), invoker: gb('InvokerFunction') };
}

/** The text with each table in its place, between `<!-- name -->` and `<!-- end -->`. */
export function withTables(text: string, tables: Record<string, string>): string {
  return text.replace(
    /<!-- (\w+) -->\n[\s\S]*?<!-- end -->/g,
    (_, name: string) => `<!-- ${name} -->\n\n${tables[name]}\n\n<!-- end -->`,
  );
}
