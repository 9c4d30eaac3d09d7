import { keys } from '../table/keys.ts';
import { compartmentIndex } from './patient-index.ts';

/** The partition of a bucket; the compartments of all types are in one index. */
export function indexPartition(project: string, type: string, index: string, bucket: string): { pk: string } {
  const { pk } = keys.index(project, index === compartmentIndex ? '_all' : type, index, bucket, '');
  return { pk };
}
