import { createSigner } from './signature.ts';

/** Of an SDK client's configuration, what says where its service is. */
interface ServiceConfig {
  region(): Promise<string>;
  useFipsEndpoint(): Promise<boolean>;
  useDualstackEndpoint(): Promise<boolean>;
  endpointProvider(wanted: { Region: string; UseFIPS: boolean; UseDualStack: boolean; Endpoint?: string }): {
    url: URL;
  };
}

interface OpenedService {
  url: URL;
  sign: ReturnType<typeof createSigner>;
}

/**
 * Where a service is and how its requests are signed: found at the first call, then known.
 * @param name as the signature has it, such as `dynamodb`
 * @param endpoint of a local engine only
 */
export function openedService(
  name: string,
  config: ServiceConfig,
  endpoint: string | undefined,
): () => Promise<OpenedService> {
  const open = async () => {
    const region = await config.region();
    const { url } = config.endpointProvider({
      Region: region,
      UseFIPS: await config.useFipsEndpoint(),
      UseDualStack: await config.useDualstackEndpoint(),
      ...(endpoint ? { Endpoint: endpoint } : {}),
    });
    return { url, sign: createSigner(name, region) };
  };
  let opened: Promise<OpenedService> | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}
