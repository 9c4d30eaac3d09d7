import type { AccessPolicy } from '@medplum/fhirtypes';
import { useEffect, useState } from 'react';

/** Whose rights are told. */
export interface Holder {
  profileType: string;
  isAdministrator: boolean;
  /** Of a RelatedPerson: whether a patient is linked. */
  hasPatients: boolean;
  /** Undefined when there is none: the default of their kind holds. */
  policy: AccessPolicy | undefined;
}

/** What somebody may do, a sentence each; undefined until the words are loaded. */
export function useRightsWords(holder: Holder): readonly string[] | undefined {
  const [words, setWords] = useState<readonly string[]>();
  const { profileType, isAdministrator, hasPatients, policy } = holder;
  useEffect(() => {
    let isGone = false;
    void rightsWords({ profileType, isAdministrator, hasPatients, policy }).then(
      (next) => isGone || setWords(next),
    );
    return () => {
      isGone = true;
    };
  }, [profileType, isAdministrator, hasPatients, policy]);
  return words;
}

/** They know every search parameter of R4, and are loaded when the first page needs them. */
async function rightsWords({ policy, ...who }: Holder): Promise<readonly string[]> {
  const { defaultWords, policyWords } = await import('./words.ts');
  const statements = policy ? policyWords(policy, who) : defaultWords(who);
  return statements.map(({ text }) => text);
}
