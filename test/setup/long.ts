import { test } from '@jest/globals';

/** `PORTICO_LONG=1` asks for the long form of tests that have one: many messages, real waiting times. */
export const isLong = process.env.PORTICO_LONG === '1';

/** A test that has no short form. */
export const longTest = isLong ? test : test.skip;

/** How many cases a costly property meets: half of these, and all in the long form. */
export const casesOf = (all: number): number => (isLong ? all : Math.ceil(all / 2));
