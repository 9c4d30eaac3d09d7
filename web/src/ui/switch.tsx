import type { ReactNode } from 'react';
import { SwitchButton, SwitchField, type SwitchFieldProps, Text } from 'react-aria-components';

interface Props extends Omit<SwitchFieldProps, 'className' | 'children'> {
  children: ReactNode;
  help?: string;
}

export function Switch({ children, help, ...props }: Props) {
  return (
    <SwitchField {...props} className="switch-field">
      <SwitchButton className="switch">
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span>{children}</span>
      </SwitchButton>
      {help && (
        <Text slot="description" elementType="p" className="help">
          {help}
        </Text>
      )}
    </SwitchField>
  );
}
