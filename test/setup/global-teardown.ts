import { tearDown } from './global-setup.ts';

export default tearDown;
