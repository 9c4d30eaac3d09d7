import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type LockedPackages, missingEntries } from '../infra/local/complete-lockfile.ts';

describe('the lockfile', () => {
  test('lacks no platform package (else run `npm run lock`)', () => {
    const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
      packages: LockedPackages;
    };
    expect(missingEntries(lock.packages)).toEqual({});
  });
});

describe('completing a lockfile', () => {
  test('adds an absent sibling with version and platform, of the parent’s kind', () => {
    const packages = {
      'node_modules/tool': {
        version: '1.2.3',
        dev: true,
        optionalDependencies: { '@tool/cli-linux-arm64-musl': '1.2.3', '@tool/cli-linux-x64': '1.2.3' },
      },
      'node_modules/@tool/cli-linux-x64': { version: '1.2.3' },
    };
    expect(missingEntries(packages)).toEqual({
      'node_modules/@tool/cli-linux-arm64-musl': {
        version: '1.2.3',
        dev: true,
        optional: true,
        cpu: ['arm64'],
        libc: ['musl'],
        os: ['linux'],
      },
    });
  });

  test.each([
    ['a-linux-x64-gnu', { cpu: ['x64'], libc: ['glibc'], os: ['linux'] }],
    ['a-linux-x64-musl', { cpu: ['x64'], libc: ['musl'], os: ['linux'] }],
    ['a-linux-arm-musleabihf', { cpu: ['arm'], libc: ['musl'], os: ['linux'] }],
    ['@a/linux-x64', { cpu: ['x64'], os: ['linux'] }],
    ['a-win32-x64-msvc', { cpu: ['x64'], os: ['win32'] }],
    ['a-wasm32-wasi', { cpu: ['wasm32'] }],
    ['fsevents', {}],
  ])('%s is for %j', (name, platform) => {
    const packages = { 'node_modules/tool': { version: '1.0.0', optionalDependencies: { [name]: '1.0.0' } } };
    expect(missingEntries(packages)).toEqual({
      [`node_modules/${name}`]: { version: '1.0.0', optional: true, ...platform },
    });
  });

  test('finds a sibling nested below its parent or any folder above', () => {
    const packages = {
      'node_modules/a/node_modules/b': {
        version: '1.0.0',
        optionalDependencies: { c: '^1.0.0', d: '1.0.0' },
      },
      'node_modules/a/node_modules/c': { version: '1.0.0' },
      'node_modules/a/node_modules/b/node_modules/d': { version: '1.0.0' },
    };
    expect(missingEntries(packages)).toEqual({});
  });
});
