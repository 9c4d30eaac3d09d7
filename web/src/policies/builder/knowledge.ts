// biome-ignore-all lint/performance/noBarrelFile: what is loaded together when a policy is first worked on

export { policyWarnings } from '../../../../shared/access/words/policy-warnings.ts';
export { policyWords } from '../../../../shared/access/words/policy-words.ts';
export { elementNames, hasElementIn } from '../../../../shared/fhir/element-names.ts';
export { parametersOf, resourceTypes } from '../../../../shared/index/registry.ts';
