import type { ReactNode } from 'react';
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components';

interface Props extends Omit<SwitchProps, 'className' | 'children'> {
  children: ReactNode;
  help?: string;
}

export function Switch({ children, help, ...props }: Props) {
  return (
    <div className="switch-field">
      <AriaSwitch {...props} className="switch">
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span>{children}</span>
      </AriaSwitch>
      {help && <p className="help">{help}</p>}
    </div>
  );
}
