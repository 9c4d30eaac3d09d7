import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';

/** `GET admin/projects/<id>` */
export interface ProjectAnswer {
  project: { id: string; name?: string };
  senderName?: string;
  /** 0 where nobody can take emergency access. */
  emergencyMinutes: number;
  /** What it may do. */
  features: readonly string[];
  idleMinutes?: number;
  limits: Record<string, number>;
}

export function useProject() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<ProjectAnswer>(api.admin, signal), [api]);
  return useLoad(load);
}
