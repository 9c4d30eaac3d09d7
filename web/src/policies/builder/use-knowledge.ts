import { useEffect, useState } from 'react';
import { type Structures, structuresIn } from '../../../../shared/store/fhir/elements.ts';

type Module = typeof import('./knowledge.ts');

/** What is known of policies, as the service knows it. */
export interface Knowledge extends Module {
  /** The definitions of R4, once they are there: they are larger than the rest. */
  structures?: Structures;
}

let modules: Promise<Module> | undefined;
let definitions: Promise<Structures> | undefined;

/** Loaded when the first policy is opened; undefined until then. */
export function useKnowledge(): Knowledge | undefined {
  const [knowledge, setKnowledge] = useState<Module>();
  const [structures, setStructures] = useState<Structures>();
  useEffect(() => {
    modules ??= import('./knowledge.ts');
    definitions ??= unpacked();
    modules.then(setKnowledge, () => {
      modules = undefined;
    });
    definitions.then(setStructures, () => {
      definitions = undefined;
    });
  }, []);
  return knowledge && { ...knowledge, ...(structures ? { structures } : {}) };
}

async function unpacked(): Promise<Structures> {
  const module = await import('../../../../shared/store/fhir/definitions.ts');
  const bytes = Uint8Array.from(atob(module.definitions), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return structuresIn(await new Response(stream).text());
}
