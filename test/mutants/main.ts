import { command, flag, text } from '../../infra/command.ts';
import { seeded } from '../setup/seeded.ts';
import { type Mutant, mutantsOf } from './points.ts';
import { filesOfTree, textOf, tryMutant } from './trial.ts';

/**
 * `npm run mutants`: draws small changes of what is deployed, evenly from all that are possible, and runs tests of your
 * choice with one of them. Ends with 1 when it lived: a test is missing, or nothing can tell it from the original.
 */
const usage = `npm run mutants -- [--seed <n>] [--count <n>] --list
npm run mutants -- [--seed <n>] [--count <n>] --only <n> -- <arguments of jest>
`;

function everyMutant(): Mutant[] {
  const isOurs = (file: string) => /^(functions|shared|infra|client|mllp)\/.*(?<!\.d)\.ts$/.test(file);
  const isGenerated = (source: string) => source.startsWith('// Written by ');
  return filesOfTree()
    .filter(isOurs)
    .map((file) => ({ file, source: textOf(file) }))
    .flatMap(({ file, source }) => (isGenerated(source) ? [] : mutantsOf(file, source)));
}

/** So many of them, each as likely as any other, the same for each seed. */
function draw<T>(all: readonly T[], count: number, seed: number): T[] {
  const chance = seeded(seed);
  const left = [...all];
  const take = () => left.splice(Math.floor(chance() * left.length), 1);
  return Array.from({ length: Math.min(count, all.length) }, take).flat();
}

function describe({ file, line, kind, original, mutated }: Mutant): string {
  return `${file}:${line} ${kind}: ${original} → ${mutated}`.replace(/\s+/g, ' ');
}

function numberOf(option: string, given: string): number {
  if (!/^\d{1,9}$/.test(given)) throw new Error(`--${option} is a whole number, not ${given}`);
  return Number(given);
}

const options = { seed: text, count: text, only: text, list: flag };
await command(usage, { failed: 2, allowPositionals: true, options }, async ({ values, positionals }) => {
  const { seed = '1', count = '100', only, list = false } = values;
  if (list === (only !== undefined)) throw new Error('Give --list, or --only with a number of the list');
  const all = everyMutant();
  const drawn = draw(all, numberOf('count', count), numberOf('seed', seed));
  if (only === undefined) {
    for (const [at, mutant] of drawn.entries()) process.stdout.write(`${at + 1} ${describe(mutant)}\n`);
    process.stdout.write(`${drawn.length} of ${all.length}\n`);
    return;
  }
  const mutant = drawn[numberOf('only', only) - 1];
  if (!mutant) throw new Error(`There is no number ${only} in a list of ${drawn.length}`);
  const killer = await tryMutant(mutant, positionals);
  process.stdout.write(`${only} ${describe(mutant)}\n${killer ? `killed by ${killer}` : 'lived'}\n`);
  process.exitCode = killer ? 0 : 1;
});
