import { useEffect, useRef } from 'react';
import { cameBack } from '../api/came-back.ts';

let left: { path: string; id: string } | undefined;

/**
 * Leads somebody who comes back to a list to the row that they had followed: into view, with the focus.
 * @param path names the list
 * @param isShown once its rows are there
 * @returns what the list calls with the row that is followed, and the row's ref
 */
export function useRowPlace<Container extends HTMLElement = HTMLUListElement>(
  path: string | undefined,
  isShown: boolean,
) {
  const list = useRef<Container>(null);
  useEffect(() => {
    if (!isShown || !cameBack() || left === undefined || left.path !== path) return;
    const { id } = left;
    left = undefined;
    // The page's heading takes the focus when the page opens: after that.
    const frame = requestAnimationFrame(() => {
      const row = list.current?.querySelector(`[data-row="${CSS.escape(id)}"]`);
      row?.scrollIntoView({ block: 'center' });
      row?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [path, isShown]);
  return {
    list,
    follow: (id: string) => {
      left = path === undefined ? undefined : { path, id };
    },
  };
}
