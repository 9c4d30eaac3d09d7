import { useCallback } from 'react';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import type { Mail } from './mail.ts';
import { MailArticle } from './mail-article.tsx';

/** What the stage on a laptop would have sent. The API's token must not go there: it asks for none. */
async function listMails(signal: AbortSignal): Promise<Mail[]> {
  const answer = await fetch('/local/mail', { headers: { accept: 'application/json' }, signal });
  if (!answer.ok) throw new Error('This stage has no mailbox.');
  return ((await answer.json()) as Mail[]).reverse();
}

export function MailPage() {
  const loaded = useLoad(useCallback(listMails, []));
  return (
    <Page title="Mailbox" actions={<Button onPress={loaded.reload}>Refresh</Button>}>
      <p className="muted">On a laptop no e-mail leaves the machine. All of them are here, newest first.</p>
      <Loading of={loaded}>
        {(mails) =>
          mails.length === 0 ? (
            <Empty title="No mail yet" />
          ) : (
            <div className="articles">
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
