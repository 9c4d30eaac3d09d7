import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { useAddressState } from '../api/use-address-state.ts';

interface Props {
  label: string;
  tabs: readonly (readonly [title: string, content: ReactNode])[];
}

/** Pages of one thing; only the chosen one is there, and it stands in the address. */
export function Tabs({ label, tabs }: Props) {
  const titles = tabs.map(([title]) => title);
  const [chosen, choose] = useAddressState('tab', titles, titles[0] ?? '');
  return (
    <AriaTabs selectedKey={chosen} onSelectionChange={(key) => choose(String(key))}>
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
