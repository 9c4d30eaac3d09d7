import { Link as AriaLink, type LinkProps } from 'react-aria-components';

/** To a page of this app (`/members`) or, as a button, to one outside. */
export function Link({
  className = 'link',
  ...props
}: Omit<LinkProps, 'className'> & { className?: string }) {
  return <AriaLink {...props} className={className} />;
}
