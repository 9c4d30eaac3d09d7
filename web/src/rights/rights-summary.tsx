import type { AccessPolicy } from '@medplum/fhirtypes';
import { useEffect, useState } from 'react';

interface Props {
  title: string;
  /** Undefined while it is not known which policy will hold. */
  holder: Holder | undefined;
}

/** What somebody may do, in plain words, generated from the rights themselves. */
export function RightsSummary({ title, holder }: Props) {
  return (
    <div className="summary" role="status">
      <p className="legend">{title}</p>
      {holder ? (
        <Words holder={holder} />
      ) : (
        <p>Choose the access policy from the list to see what it allows.</p>
      )}
    </div>
  );
}

function Words({ holder }: { holder: Holder }) {
  const words = useRightsWords(holder);
  if (!words) return null;
  const { isAdministrator, policy } = holder;
  return (
    <ul>
      {words.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sentences may repeat, and change together
        <li key={index}>{text}</li>
      ))}
      {words.length === 0 && <li>The policy has no entries: it grants nothing.</li>}
      {isAdministrator && policy && (
        <li>May invite, change and remove people, and manage Bots and API keys.</li>
      )}
      {(policy || !isAdministrator) && <li>Nothing else.</li>}
    </ul>
  );
}

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
function useRightsWords(holder: Holder): readonly string[] | undefined {
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
