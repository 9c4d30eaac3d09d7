import type { StageBounds } from '../../shared/bot/bounds/place.ts';
import type { JobStarter } from '../../shared/bot/job/job-starter.ts';
import type { Services } from '../../shared/services.ts';

export interface TickServices extends Services, StageBounds {
  jobs: JobStarter;
}
