/** What a page is about, for who sees it the first time. */
export interface Topic {
  title: string;
  paragraphs: readonly string[];
  more?: { href: string; label: string };
}

/** By the beginning of a page's path; the longest that fits holds. */
const topics: Readonly<Record<string, Topic>> = {
  '/overview': {
    title: 'The overview',
    paragraphs: [
      'It lists what should be looked at now. A Bot or a delivery is listed when one of its 20 latest runs or deliveries of the last 24 hours failed; one that was tried again and arrived is not.',
      'An invitation is listed when it expires within two days, an API key when it has never been used.',
    ],
  },
  '/members': {
    title: 'Members',
    paragraphs: [
      'Everybody who belongs to this Project: people, Bots and API keys. Each has a profile in the records, such as a Practitioner or a Patient, and the rights of an access policy or of their role.',
      'Whoever is invited is listed at once, and can sign in once they have accepted. A member of several Projects has rights in each of them apart.',
    ],
    more: { href: '/policies', label: 'Access policies' },
  },
  '/invite': {
    title: 'Inviting',
    paragraphs: [
      'An invitation makes somebody a member and sends them an e-mail with a link, by which they set a password or sign in with their organisation.',
      'The kind of profile says what they are to the records. The access policy says what they may read and write; without one they have the default rights of their kind. It can be changed at any time.',
    ],
    more: { href: '/policies', label: 'Access policies' },
  },
  '/policies': {
    title: 'Access policies',
    paragraphs: [
      'A policy is a list of entries. Each entry grants something on one type of record; what no entry grants is refused.',
      'Criteria narrow an entry to the records that a search would find: Patient?organization=Organization/7. An entry that is read-only allows no change. Hidden fields are left out of what is read; read-only fields are seen and cannot be changed.',
      '%profile stands for the profile of the member who asks. A member with several policies may do what any of them allows. A change applies from each member’s next request.',
    ],
    more: { href: '/members', label: 'Members' },
  },
  '/bots': {
    title: 'Bots',
    paragraphs: [
      'A Bot is a function of yours, in TypeScript or JavaScript, that takes a message and answers. Programs call it, a Subscription wakes it when a record changes, a schedule wakes it at set times.',
      'What you write is a draft until you deploy it; callers get the deployed version. It runs in a sandbox with the rights of its own membership, and reads or writes records through medplum.',
      'Secrets are values that its code reads and nobody can look at again. Every run is kept under Executions with its log.',
    ],
    more: { href: '/reference', label: 'API reference' },
  },
  '/clients': {
    title: 'API keys',
    paragraphs: [
      'A program signs in with a client id and a secret (OAuth 2.0, client_credentials), and may do what the key’s access policy allows. The secret is shown once: keep it where only the program reads it.',
      'An app that people use in a browser or on a phone cannot keep a secret. Make it a public app: people sign in themselves, and it may do what they may. Redirect URIs are the addresses to which they are sent back.',
    ],
    more: { href: '/reference', label: 'API reference' },
  },
  '/records': {
    title: 'Records',
    paragraphs: [
      'FHIR resources of this Project, as far as your rights let you see them: what you do not find may still exist.',
      'Each type has its own search parameters. Conditions are joined: a record must meet all of them. Commas within a value mean “or”. Words match from their beginning; dates and numbers may have ge, gt, le or lt before them.',
      'Every change makes a new version, and earlier versions stay in the history.',
    ],
    more: { href: '/reference', label: 'API reference' },
  },
  '/audit': {
    title: 'The audit log',
    paragraphs: [
      'Every change, run, sign-in and refused attempt in this Project, with who did it. Nobody can change or delete an entry.',
      'People, Bots, keys and policies stand in it with the name that they had then; records of patients by their reference only.',
      'The file holds what the filters show. Cells that a spreadsheet would compute begin with an apostrophe.',
    ],
  },
  '/account': {
    title: 'Your account',
    paragraphs: [
      'Your password, your e-mail address and your second factor. They are yours in every Project that you are a member of, and administrators cannot see them.',
      'With a second factor, signing in asks for a six-digit code from an app on your phone too.',
    ],
  },
};

/** What the page of that path is about; undefined where nobody hesitates. */
export function topicOf(path: string): Topic | undefined {
  const [longest] = Object.keys(topics)
    .filter((start) => path === start || path.startsWith(`${start}/`))
    .sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : topics[longest];
}
