import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type Bus, eventSource } from '../carry/work/bus-event.ts';
import { createExchanger, leanClient, patience } from './wire/transport.ts';

/** An EventBridge bus by its name. @param endpoint of a laptop only */
export function eventBridgeBus(name: string, endpoint: string | undefined): Bus {
  const exchanger = createExchanger(endpoint ? {} : patience);
  const events = leanClient('events', EventBridgeClient, exchanger, { maxAttempts: 3, endpoint });
  return {
    async publish({ name: detailType, detail }) {
      const { Entries: [entry] = [] } = await events.send(
        new PutEventsCommand({
          Entries: [
            {
              EventBusName: name,
              Source: eventSource,
              DetailType: detailType,
              Time: new Date(detail.time),
              Detail: JSON.stringify(detail),
            },
          ],
        }),
      );
      if (entry?.ErrorCode !== undefined)
        throw new Error(`The bus has not taken an event: ${entry.ErrorCode}`);
    },
  };
}
