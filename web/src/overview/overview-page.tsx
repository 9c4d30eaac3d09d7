import { Page } from '../ui/page.tsx';
import { AttentionCard } from './attention-card.tsx';
import { StepsCard } from './steps-card.tsx';

/** The first page: what to do first in an empty Project, and what needs somebody's attention in any. */
export function OverviewPage() {
  return (
    <Page title="Overview">
      <StepsCard />
      <AttentionCard />
    </Page>
  );
}
