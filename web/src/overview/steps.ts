import type { Bundle, ProjectMembership } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

/** Something that is done first in a Project. */
export interface Step {
  title: string;
  why: string;
  href: string;
  deed: string;
  isDone: boolean;
}

const people = 'Practitioner,Patient,RelatedPerson';

/** What is done first, in its order, and what of it is done. Two requests. */
export async function loadSteps(api: Api, signal: AbortSignal): Promise<Step[]> {
  const types = ['AccessPolicy', 'Bot', 'ClientApplication'];
  const [batch, members] = await Promise.all([
    api.send<Bundle<Bundle>>('POST', 'fhir/R4', {
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: types.map((type) => ({ request: { method: 'GET', url: `${type}?_count=1&_elements=id` } })),
    }),
    api.get<Bundle<ProjectMembership>>(`${api.admin}/members?profile-type=${people}&_count=2`, signal),
  ]);
  const [hasPolicy, hasBot, hasKey] = types.map((_, at) => hasAny(batch.entry?.[at]?.resource));
  return [
    {
      title: 'Write an access policy',
      why: 'It says what a person or a program may read and write. Without one, members have the default rights of their role.',
      href: '/policies/new',
      deed: 'Create a policy',
      isDone: hasPolicy === true,
    },
    {
      title: 'Invite somebody',
      why: 'They get an e-mail with a link, and have the rights of the policy that you choose.',
      href: '/invite',
      deed: 'Invite somebody',
      // The first one is whoever reads this.
      isDone: (members.entry?.length ?? 0) > 1,
    },
    {
      title: 'Create a Bot',
      why: 'A Bot is code of yours that runs when a message arrives, a record changes or a schedule says so.',
      href: '/bots/new',
      deed: 'Create a Bot',
      isDone: hasBot === true,
    },
    {
      title: 'Create an API key',
      why: 'With it a program of yours signs in, calls Bots, and reads and writes records.',
      href: '/clients',
      deed: 'Create an API key',
      isDone: hasKey === true,
    },
  ];
}

function hasAny(found: Bundle | undefined): boolean {
  return (found?.entry?.length ?? 0) > 0;
}
