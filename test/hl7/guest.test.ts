import { resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { ADMISSION } from './samples.ts';

test('runs bundled, in a global scope that holds nothing but the language', async () => {
  const bundle = await build({
    entryPoints: [resolve(import.meta.dirname, '../../shared/bots/hl7/message.ts')],
    bundle: true,
    write: false,
    platform: 'neutral',
    format: 'iife',
    globalName: 'hl7',
  });
  const scope = createContext({ text: ADMISSION });
  const program = `${bundle.outputFiles[0]?.text}
    const message = hl7.Hl7Message.parse(text);
    const ack = message.buildAck({ ackCode: 'AE', controlId: 'A-1', now: new Date(0) });
    [message.get('PID.5.1'), message.get('OBX[2].5'), ack.get('MSH.7'), ack.get('MSA.2')].join();`;
  expect(runInContext(program, scope)).toBe('O&Neill,C:\\Temp\\file é,19700101000000+0000,C-1001');
});
