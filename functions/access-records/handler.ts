import { gunzipSync } from 'node:zlib';
import type { CloudWatchLogsDecodedData, CloudWatchLogsEvent } from 'aws-lambda';

/**
 * Takes the lines of the access log from the logs of the functions to one of its own, which is this function's: it
 * prints them as they are. Only CloudWatch Logs invokes it.
 */
export async function handler({ awslogs }: CloudWatchLogsEvent): Promise<void> {
  const text = gunzipSync(Buffer.from(awslogs.data, 'base64')).toString('utf8');
  const { messageType, logEvents }: CloudWatchLogsDecodedData = JSON.parse(text);
  // What CloudWatch sends to see whether anybody is there holds no lines of ours.
  if (messageType !== 'DATA_MESSAGE') return;
  for (const { message } of logEvents) process.stdout.write(`${message.trimEnd()}\n`);
}
