import { createLanguage, type LanguageAnswer, type Question } from './language.ts';

/** The compiler of the editor, in a thread of its own. Its name is the address of what it is to know. */
const language = fetch(self.name)
  .then((answer) => answer.json() as Promise<Record<string, string>>)
  .then((files) => createLanguage(new Map(Object.entries(files))));

self.addEventListener('message', async ({ data: { id, kind, given } }: MessageEvent<Question>) => {
  try {
    const ask = (await language)[kind] as (...given: Question['given']) => unknown;
    self.postMessage({ id, answer: ask(...given) } satisfies LanguageAnswer);
  } catch (error) {
    self.postMessage({ id, failed: String(error) } satisfies LanguageAnswer);
  }
});
