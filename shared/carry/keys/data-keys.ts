import { hkdfSync, randomBytes } from 'node:crypto';
import { openBytes, sealBytes } from './key-ring.ts';

/** What a data key is for: it opens with the same words only, and CloudTrail shows them. */
export type KeyContext = Readonly<Record<string, string>>;

/** Envelope encryption: keys that encrypt data, themselves wrapped by a key of the stage. */
export interface DataKeys {
  /** A new key of 32 bytes, and its wrapped form to be stored. */
  make(context: KeyContext): Promise<{ plain: Uint8Array; wrapped: Uint8Array }>;
  /** @throws {Error} when it was not wrapped here, or in another context */
  open(wrapped: Uint8Array, context: KeyContext): Promise<Uint8Array>;
}

/** Wraps keys of 32 bytes by a key that is kept elsewhere. Wrapped in one context, a key opens in no other. */
export interface KeyWrapping {
  /** A new key: whoever has it made does not see it. */
  makeWrapped(context: KeyContext): Promise<Uint8Array>;
  wrap(plain: Uint8Array, context: KeyContext): Promise<Uint8Array>;
  /** @throws {Error} when it was not wrapped here, in another context, or the caller may not */
  open(wrapped: Uint8Array, context: KeyContext): Promise<Uint8Array>;
}

/** A laptop's: wrapped by a key that derives from its key file. */
export function fileDataKeys(secret: Uint8Array): DataKeys {
  const wrapping = fileWrappingKey(secret);
  return {
    async make(context) {
      const plain = randomBytes(32);
      return { plain, wrapped: sealBytes(wrapping, plain, textOf(context)) };
    },
    open: async (wrapped, context) => openBytes(wrapping, wrapped, textOf(context)),
  };
}

/**
 * The same for the stage's own keys, as KMS does it on AWS.
 * @param mayOpen the purposes that a role may open; all when left out
 */
export function fileKeyWrapping(secret: Uint8Array, mayOpen?: readonly string[]): KeyWrapping {
  const wrapping = fileWrappingKey(secret);
  const wrap = async (plain: Uint8Array, context: KeyContext) => sealBytes(wrapping, plain, textOf(context));
  return {
    makeWrapped: (context) => wrap(randomBytes(32), context),
    wrap,
    async open(wrapped, context) {
      if (mayOpen?.includes(context.purpose ?? '') === false) {
        throw new Error(`The role does not allow kms:Decrypt of the key for ${context.purpose}`);
      }
      return openBytes(wrapping, wrapped, textOf(context));
    },
  };
}

/** Wraps what a laptop keeps wrapped, each in its context. */
function fileWrappingKey(secret: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'portico data keys', 32));
}

function textOf(context: KeyContext): string {
  return JSON.stringify(Object.entries(context).sort());
}
