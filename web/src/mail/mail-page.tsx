import { useLoad } from '../api/use-api.ts';
import { Button, Empty, Loading, Moment } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';

/** What the stage on a laptop would have sent. The API's token must not go there: it asks for none. */
async function listMails(signal: AbortSignal): Promise<Mail[]> {
  const answer = await fetch('/local/mail', { headers: { accept: 'application/json' }, signal });
  if (!answer.ok) throw new Error('This stage has no mailbox.');
  return ((await answer.json()) as Mail[]).reverse();
}

export function MailPage() {
  const loaded = useLoad('', listMails);
  return (
    <Page title="Mailbox" actions={<Button onPress={loaded.reload}>Refresh</Button>}>
      <p className="muted">On a laptop no e-mail leaves the machine. All of them are here, newest first.</p>
      <Loading of={loaded}>
        {(mails) =>
          mails.length === 0 ? (
            <Empty title="No mail yet" />
          ) : (
            <div className="stack">
              {mails.map((mail) => (
                <MailArticle key={mail.id} mail={mail} />
              ))}
            </div>
          )
        }
      </Loading>
    </Page>
  );
}

/** The text part of a mail; its links work, nothing else of it becomes markup. */
function MailArticle({ mail: { id, subject, to, receivedAt, text } }: { mail: Mail }) {
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

interface Mail {
  id: string;
  receivedAt: string;
  to: string[];
  subject: string;
  text: string;
}
