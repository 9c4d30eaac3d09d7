// biome-ignore-all lint/performance/noBarrelFile: what is loaded together when a policy is first worked on

export { policyWarnings, policyWords } from '../../../../shared/identity/policies/policy-words.ts';
export { elementNames, hasElementIn } from '../../../../shared/store/fhir/elements.ts';
export { parametersOf, resourceTypes } from '../../../../shared/store/index/registry.ts';
