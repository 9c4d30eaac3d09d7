import { coreServices } from '../../shared/core-services.ts';
import { type Provisioned, type ProvisionRequest, provision } from './provision.ts';

const services = coreServices(process.env);

export const handler = (event: ProvisionRequest): Promise<Provisioned> => provision(services, event);
