// biome-ignore-all lint/performance/noBarrelFile: what is loaded together when rights are first told

export { policyWords } from '../../../shared/identity/policies/policy-words.ts';
export { defaultWords } from '../../../shared/identity/policies/rule-words.ts';
