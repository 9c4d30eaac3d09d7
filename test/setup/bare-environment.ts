/** What a program gets of the environment of the test that runs it: where programs are, and what Node has compiled before. */
export function bareEnvironment() {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
