// biome-ignore-all lint/performance/noBarrelFile: what is loaded together when rights are first told or worked on

export { policyWarnings, policyWords } from '../../../../shared/identity/policies/policy-words.ts';
export { defaultWords } from '../../../../shared/identity/policies/rule-words.ts';
export { elementNames, hasElementIn } from '../../../../shared/store/fhir/elements.ts';
export { parametersOf, resourceTypes } from '../../../../shared/store/index/registry.ts';
