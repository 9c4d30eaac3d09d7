import { type Holder, useRightsWords } from './rights-words.ts';

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
