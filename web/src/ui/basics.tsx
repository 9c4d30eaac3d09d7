import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Link as AriaLink,
  type LinkProps,
} from 'react-aria-components';
import type { Loaded } from '../api/use-api.ts';

export type BadgeKind = 'good' | 'waiting' | 'bad' | 'plain';

export function Badge({ kind = 'plain', children }: { kind?: BadgeKind; children: ReactNode }) {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}

/** Names and values. */
export function Details({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="details">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A date and time of day where the reader is. */
export function Moment({ at }: { at: string | undefined }) {
  if (!at) return <>unknown</>;
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}

/** To a page of this app (`/members`) or, as a button, to one outside. */
export function Link({
  className = 'link',
  ...props
}: Omit<LinkProps, 'className'> & { className?: string }) {
  return <AriaLink {...props} className={className} />;
}

/** A text as it came, which scrolls by itself when it is long: the keyboard must reach it then. */
export function Output({
  label,
  text,
  children = text,
}: {
  label: string;
  text?: string;
  children?: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output" tabIndex={0} aria-label={label}>
      <pre>{children}</pre>
    </section>
  );
}

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'isPending'> {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  className?: string;
  /** What it began is not done yet: it keeps its place and its focus. */
  isPending?: boolean;
}

/**
 * React Aria's own `isPending` leaves an image without a name behind for screen readers; what an action
 * came to is announced by its Notice.
 */
export function Button({ kind = 'plain', className = '', isPending = false, ...props }: ButtonProps) {
  return (
    <AriaButton
      {...props}
      className={`button button-${kind} ${className}`}
      {...(isPending ? { 'data-busy': true, 'aria-disabled': true } : {})}
    />
  );
}

/** Puts a text on the clipboard and says so. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select it and copy it by hand');
    }
  };
  return (
    <span className="row-side">
      <Button onPress={copy}>{label}</Button>
      <span className="muted" role="status">
        {said}
      </span>
    </span>
  );
}

interface NoticeProps {
  kind: 'good' | 'bad' | 'plain';
  /** It answers a form that is gone: the focus goes here, and not to the top of the page. */
  takesFocus?: boolean;
  children: ReactNode;
}

/**
 * Something that a screen reader says when it appears. What answers a press comes into view, wherever the
 * page was scrolled to.
 */
export function Notice({ kind, takesFocus = false, children }: NoticeProps) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (kind !== 'plain') own.current?.scrollIntoView({ block: 'nearest' });
    if (takesFocus) own.current?.focus({ preventScroll: true });
  }, [kind, takesFocus]);
  return (
    <div
      ref={own}
      className={`notice notice-${kind}`}
      role={kind === 'bad' ? 'alert' : 'status'}
      {...(takesFocus ? { tabIndex: -1 } : {})}
    >
      {children}
    </div>
  );
}

/** An error, when there is one. */
export function Failure({ message }: { message: string | undefined }) {
  return message === undefined ? null : (
    <Notice kind="bad" key={message}>
      {message}
    </Notice>
  );
}

interface LoadingProps<T> {
  of: Loaded<T> & { reload(): void };
  children(value: T): ReactNode;
}

/** What was loaded; grey bars in its place until then; what went wrong, with a way to try again. */
export function Loading<T>({ of: loaded, children }: LoadingProps<T>) {
  return (
    <>
      {loaded.state === 'failed' && <Retry message={loaded.message} onPress={loaded.reload} />}
      {loaded.value !== undefined ? children(loaded.value) : loaded.state === 'loading' && <Bars />}
    </>
  );
}

/** In place of what is being loaded. */
export function Bars() {
  return (
    <div className="bars" role="status" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  );
}

/** What could not be loaded, and the way to try again. */
export function Retry({ message, onPress }: { message: string; onPress(): void }) {
  return (
    <Notice kind="bad">
      <p>{message}</p>
      <Button onPress={onPress}>Try again</Button>
    </Notice>
  );
}

/** The next page of a list; nothing when there is none. */
export function ShowMore({ onPress, isBusy }: { onPress: (() => void) | undefined; isBusy: boolean }) {
  return onPress === undefined ? null : (
    <div>
      <Button onPress={onPress} isPending={isBusy}>
        Show more
      </Button>
    </div>
  );
}

/** In place of a list that has nothing in it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
