import { useMemo } from 'react';
import { Scrolling } from './basics.tsx';
import { type DiffLine, lineDiff } from './line-diff.ts';

const around = 3;
const signs = { same: ' ', removed: '-', added: '+' } as const;
const words = { same: '', removed: 'Removed: ', added: 'Added: ' } as const;

/** How one text becomes the other, line by line, with a few lines around each difference. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const pieces = useMemo(() => piecesOf(lineDiff(before, after)), [before, after]);
  return (
    <Scrolling label={label} className="output diff">
      <ol>
        {pieces.map((piece) =>
          'skipped' in piece ? (
            <li key={piece.at} className="muted">
              … {piece.skipped === 1 ? 'one line' : `${piece.skipped} lines`} the same …
            </li>
          ) : (
            <li key={piece.at} className={`diff-${piece.kind}`}>
              <span aria-hidden="true">{signs[piece.kind]} </span>
              <span className="visually-hidden">{words[piece.kind]}</span>
              <code>{piece.text}</code>
            </li>
          ),
        )}
      </ol>
    </Scrolling>
  );
}

type Piece = (DiffLine & { at: number }) | { skipped: number; at: number };

function piecesOf(lines: readonly DiffLine[]): Piece[] {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== 'same');
  const pieces: Piece[] = [];
  for (const [at, line] of lines.entries()) {
    const last = pieces.at(-1);
    if (isNear(at)) pieces.push({ ...line, at });
    else if (last && 'skipped' in last) last.skipped += 1;
    else pieces.push({ skipped: 1, at });
  }
  return pieces;
}
