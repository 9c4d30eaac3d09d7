import { eventBridgeBus } from '../../shared/aws/events.ts';
import { requireVariable } from '../../shared/base/env.ts';
import { consoleLog as log } from '../../shared/base/log.ts';
import { parseBusEvent } from '../../shared/carry/work/bus-event.ts';
import { queueHandler } from '../../shared/composition/queues.ts';

const bus = eventBridgeBus(requireVariable(process.env, 'BUS_NAME'), process.env.EVENTS_ENDPOINT);

export const handler = queueHandler(process.env, 'bus', { log }, (body) => bus.publish(parseBusEvent(body)));
