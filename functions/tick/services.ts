import type { JobStarter } from '../../shared/bot/job/job-starter.ts';
import type { Services } from '../../shared/services.ts';

export interface TickServices extends Services {
  jobs: JobStarter;
}
