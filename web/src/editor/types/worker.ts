import { type Answered, type Asked, createLanguage } from './language.ts';

/** The compiler of the editor, in a thread of its own. Its name is the address of what it is to know. */
const language = fetch(self.name)
  .then((answer) => answer.json() as Promise<Record<string, string>>)
  .then((files) => createLanguage(new Map(Object.entries(files))));

self.addEventListener('message', async ({ data }: MessageEvent<Asked>) => {
  try {
    self.postMessage({ id: data.id, answer: answerTo(await language, data) } satisfies Answered);
  } catch (error) {
    self.postMessage({ id: data.id, failed: String(error) } satisfies Answered);
  }
});

function answerTo(known: ReturnType<typeof createLanguage>, asked: Asked) {
  switch (asked.kind) {
    case 'check':
      return known.check(asked.file);
    case 'complete':
      return known.complete(asked.file, asked.at);
    case 'describe':
      return known.describe(asked.file, asked.at);
    default:
      return asked satisfies never;
  }
}
