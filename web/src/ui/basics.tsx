import { type ReactNode, useCallback, useContext, useEffect, useId, useRef, useState } from 'react';
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Link as AriaLink,
  type LinkProps,
} from 'react-aria-components';
import { type ActionState, type Loaded, ReloadAround } from '../api/use-api.ts';

export type BadgeKind = 'good' | 'waiting' | 'bad' | 'plain';

export function Badge({ kind = 'plain', children }: { kind?: BadgeKind; children: ReactNode }) {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}

/** Names and values; what has no value is left out. */
export function Details({ of }: { of: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="details">
      {Object.entries(of).map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface MomentProps {
  at: string | undefined;
  /** The words before it. */
  before?: string;
  /** What is said when there is none. */
  or?: string;
  className?: string;
}

/** A date and time of day where the reader is. */
export function Moment({ at, before, or = 'unknown', className }: MomentProps) {
  const time = at ? <time dateTime={at}>{format.format(new Date(at))}</time> : or;
  const words = at && before ? `${before} ` : '';
  return (
    <span className={className}>
      {words}
      {time}
    </span>
  );
}

/** To a page of this app (`/members`) or, as a button, to one outside. */
export function Link({
  className = 'link',
  ...props
}: Omit<LinkProps, 'className'> & { className?: string }) {
  return <AriaLink {...props} className={className} />;
}

/** The same, looking like a button. */
export function ButtonLink(props: { label: string; href: string; kind?: 'primary' | 'plain' }) {
  const { label, href, kind = 'primary' } = props;
  return (
    <Link className={`button button-${kind}`} href={href}>
      {label}
    </Link>
  );
}

/** What scrolls by itself when it is long: the keyboard must reach it then. */
export function Scrolling({ label, className, children }: CardProps & { label: string; className: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A text as it came. */
export function Output({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Scrolling label={label} className="output">
      <pre>{children}</pre>
    </Scrolling>
  );
}

export interface CardProps {
  /** Its heading, which names it too. */
  title?: string | undefined;
  /** Its name, where it has no heading. */
  label?: string | undefined;
  className?: string;
  children: ReactNode;
}

/** A part of a page, in a frame of its own unless `className` says otherwise. */
export function Card({ title, label, className = 'card', children }: CardProps) {
  const id = useId();
  return (
    <section className={className} {...(title ? { 'aria-labelledby': id } : { 'aria-label': label })}>
      {title && <h2 id={id}>{title}</h2>}
      {children}
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

interface ActionButtonProps extends Omit<ButtonProps, 'onPress' | 'isPending' | 'children'> {
  label: string;
  action: Pick<ActionState, 'run' | 'isBusy'>;
}

/** A button that does something, and waits until it is done. */
export function ActionButton({ label, action, ...props }: ActionButtonProps) {
  return (
    <Button {...props} isPending={action.isBusy} onPress={() => void action.run()}>
      {label}
    </Button>
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

/** What was loaded; grey bars in its place until then; what went wrong, with a way to try again. */
export function Loading<T>({ of: loaded, children }: { of: Loaded<T>; children(value: T): ReactNode }) {
  const { value, message, isLoading, reload } = loaded;
  const reloadAround = useContext(ReloadAround);
  const reloadAll = useCallback(() => {
    reload();
    reloadAround();
  }, [reload, reloadAround]);
  return (
    <>
      {message !== undefined && (
        <Notice kind="bad">
          <p>{message}</p>
          <Button onPress={reload}>Try again</Button>
        </Notice>
      )}
      {value !== undefined ? (
        <ReloadAround value={reloadAll}>{children(value)}</ReloadAround>
      ) : (
        isLoading && (
          <div className="bars" role="status" aria-label="Loading">
            <span />
            <span />
            <span />
          </div>
        )
      )}
    </>
  );
}

/** Sentences, one below the other. */
export function Sentences({ of }: { of: readonly string[] }) {
  return (
    <ul>
      {of.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sentences may repeat, and change together
        <li key={at}>{text}</li>
      ))}
    </ul>
  );
}

/** A number of things in words. @param plural where it is not the word and an s */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${number.format(count)} ${count === 1 ? word : plural}`;
}

export const number = new Intl.NumberFormat();

/** In place of a list that has nothing in it. */
export function Empty({ title, hint }: { title: string; hint?: string | undefined }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {hint && <p>{hint}</p>}
    </div>
  );
}
