import { Moment } from '../ui/moment.tsx';
import type { Mail } from './mail.ts';

/** The text part of a mail; its links work, nothing else of it becomes markup. */
export function MailArticle({ mail: { id, subject, to, receivedAt, text } }: { mail: Mail }) {
  return (
    <article className="card" aria-labelledby={id}>
      <div>
        <h2 id={id}>{subject}</h2>
        <p className="muted">
          to {to.join(', ')}, <Moment at={receivedAt} />
        </p>
      </div>
      <p className="mail-text">{withLinks(text)}</p>
    </article>
  );
}

function withLinks(text: string) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text that never changes
      <a key={index} className="link" href={part} rel="noreferrer">
        {part}
      </a>
    ),
  );
}
