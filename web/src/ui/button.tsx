import { Button as AriaButton, type ButtonProps } from 'react-aria-components';

interface Props extends Omit<ButtonProps, 'className' | 'isPending'> {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  className?: string;
  /** What it began is not done yet: it keeps its place and its focus. */
  isPending?: boolean;
}

/**
 * React Aria's own `isPending` leaves an image without a name behind for screen readers; what an action
 * came to is announced by its Notice.
 */
export function Button({ kind = 'plain', className = '', isPending = false, ...props }: Props) {
  return (
    <AriaButton
      {...props}
      className={`button button-${kind} ${className}`}
      {...(isPending ? { 'data-busy': true, 'aria-disabled': true } : {})}
    />
  );
}
