import { useEffect, useState } from 'react';

interface Stage {
  hasMailbox: boolean;
}

let asked: Promise<Stage> | undefined;

/** What the stage has, asked for once; nothing until it is known. */
export function useStage(): Stage {
  const [stage, setStage] = useState<Stage>({ hasMailbox: false });
  useEffect(() => {
    asked ??= fetch('/app/stage.json').then((answer) => answer.json() as Promise<Stage>);
    asked.then(setStage, () => {
      asked = undefined;
    });
  }, []);
  return stage;
}
