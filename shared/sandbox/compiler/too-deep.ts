/** A parser that ran out of stack or memory: it says so in many ways, its author is told in one. */
export const tooDeep = 'The code is nested too deep, or is too large, to be compiled';
