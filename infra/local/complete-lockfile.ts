/**
 * `npm run lock`: adds to package-lock.json the platform packages that a registry mirror did not
 * offer. npm writes no entry for an optional dependency it cannot fetch, and `npm ci` of npm 11
 * then refuses the lockfile (`EUSAGE Missing: … from lock file`). Run it after every `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { answerHelp } from '../command.ts';

export interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** The `packages` member of a lockfile of version 3, keyed by path (`node_modules/a/node_modules/b`). */
export type LockedPackages = Record<string, LockedPackage>;

const systems = /^(?:aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/;
const processors = /^(?:arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)$/;

/** The optional dependencies that have no entry, by the path at which npm looks for them last. */
export function missingEntries(packages: LockedPackages): LockedPackages {
  const missing: LockedPackages = {};
  for (const [path, parent] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
      if (resolves(packages, path, name)) continue;
      missing[`node_modules/${name}`] = {
        version: range.replace(/^[\^~]/, ''),
        ...(parent.dev ? { dev: true } : {}),
        optional: true,
        ...platformOf(name),
      };
    }
  }
  return missing;
}

/** As Node resolves: the parent's own node_modules first, then each folder above it. */
function resolves(packages: LockedPackages, parent: string, name: string): boolean {
  for (let base = parent; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    if (packages[`${base ? `${base}/` : ''}node_modules/${name}`]?.version) return true;
    if (!base) return false;
  }
}

/** `@oxc-parser/binding-linux-arm64-musl` says it all in its name, as every such package does. */
function platformOf(name: string): Pick<LockedPackage, 'cpu' | 'os' | 'libc'> {
  const words = name.split(/[-/]/);
  const os = words.filter((word) => systems.test(word)).slice(0, 1);
  const cpu = words.filter((word) => processors.test(word)).slice(0, 1);
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.includes('gnu')
      ? ['glibc']
      : [];
  return Object.fromEntries(Object.entries({ cpu, libc, os }).filter(([, values]) => values.length > 0));
}

if (import.meta.main) {
  answerHelp('npm run lock\n  adds to package-lock.json what a registry did not offer, after npm install\n');
  const file = new URL('../../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: LockedPackages };
  const missing = missingEntries(lock.packages);
  const all = Object.entries({ ...lock.packages, ...missing });
  lock.packages = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`package-lock.json: ${Object.keys(missing).length} entries added`);
}
