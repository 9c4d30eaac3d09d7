import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';

interface Props {
  label: string;
  tabs: readonly (readonly [title: string, content: ReactNode])[];
}

/** Pages of one thing; only the chosen one is there. */
export function Tabs({ label, tabs }: Props) {
  return (
    <AriaTabs>
      <TabList className="tab-list" aria-label={label}>
        {tabs.map(([title]) => (
          <Tab key={title} id={title} className="tab">
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(([title, content]) => (
        <TabPanel key={title} id={title} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
