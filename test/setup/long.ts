import { test } from '@jest/globals';

/** `PORTICO_LONG=1` asks for the long form of tests that have one: many messages, real waiting times. */
export const isLong = process.env.PORTICO_LONG === '1';

/** A test that has no short form. */
export const longTest = isLong ? test : test.skip;
