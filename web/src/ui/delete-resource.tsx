import type { Resource } from '@medplum/fhirtypes';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from './button.tsx';
import { Confirm } from './confirm.tsx';

interface Props {
  resource: Resource;
  name: string;
  /** The page to go to afterwards. */
  then: string;
  /** What will happen, as list items. */
  children: ReactNode;
}

export function DeleteResource({ resource, name, then, children }: Props) {
  const { fetch } = useApi();
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const remove = useAction(async () => {
    await fetch(`fhir/R4/${resource.resourceType}/${resource.id}`, { method: 'DELETE' });
    navigate(then);
  });
  return (
    <>
      <div>
        <Button kind="danger" onPress={() => setAsking(true)}>
          Delete {name}
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`Delete ${name}?`}
        deed={`Delete ${name} for good`}
        isBusy={remove.isBusy}
        message={remove.message}
        onConfirm={() => remove.run()}
        onClose={() => {
          setAsking(false);
          remove.clear();
        }}
      >
        <ul>{children}</ul>
      </Confirm>
    </>
  );
}
