import { coreServices } from '../../shared/composition/core-services.ts';
import { queueHandler } from '../../shared/composition/queues.ts';
import { keepIndex, parseUpkeep, sweepCutOff } from '../../shared/store/items/upkeep.ts';

const services = coreServices(process.env);

export const handler = queueHandler(
  process.env,
  'index-upkeep',
  services,
  (body) => keepIndex(services, parseUpkeep(body)),
  {
    sweep: async () => {
      // Writes that were cut off.
      const { failed } = await sweepCutOff(services);
      for (const error of failed) services.log.error('cut-off write not swept', { error });
    },
  },
);
