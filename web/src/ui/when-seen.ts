import { useEffect, useRef } from 'react';

/** Is done when an element comes near the window. @param act undefined while there is nothing to do */
export function useWhenSeen(act: (() => void) | undefined) {
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef(act);
  latest.current = act;
  const isWaiting = act !== undefined;
  useEffect(() => {
    const watched = element.current;
    if (!watched || !isWaiting) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && latest.current?.(),
      { rootMargin: '200px' },
    );
    observer.observe(watched);
    return () => observer.disconnect();
  }, [isWaiting]);
  return element;
}
