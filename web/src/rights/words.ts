// biome-ignore-all lint/performance/noBarrelFile: what is loaded together when rights are first told

export { defaultWords } from '../../../shared/access/words/default-words.ts';
export { policyWords } from '../../../shared/access/words/policy-words.ts';
