import { stopStorageEngine } from './storage-engine.ts';

export default stopStorageEngine;
