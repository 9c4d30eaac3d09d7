/** readUInt16BE, writeDoubleLE, readIntLE, swap32 and so on, as methods of Buffer, over DataView. */

const NUMBERS = [
  ...(['Uint8', 'Int8', 'Uint16', 'Int16', 'Uint32', 'Int32', 'Float32', 'Float64'] as const),
  ...(['BigInt64', 'BigUint64'] as const),
];
const NODE_NAMES: Record<string, string> = { Float32: 'Float', Float64: 'Double' };

const viewOn = (buffer: Uint8Array) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

export function defineNumbers(prototype: Uint8Array): void {
  /** Node writes both UInt and Uint. */
  function method(name: string, value: unknown) {
    for (const each of new Set([name.replace('Uint', 'UInt'), name])) {
      Object.defineProperty(prototype, each, { value, writable: true, configurable: true });
    }
  }

  for (const type of NUMBERS) {
    const name = NODE_NAMES[type] ?? type;
    const size = Number(/\d+/.exec(type)?.[0]) / 8;
    for (const end of size === 1 ? [''] : ['BE', 'LE']) {
      method(`read${name}${end}`, function (this: Uint8Array, offset = 0) {
        return viewOn(this)[`get${type}`](offset, end === 'LE');
      });
      method(`write${name}${end}`, function (this: Uint8Array, value: number, offset = 0) {
        viewOn(this)[`set${type}`](offset, value as never, end === 'LE');
        return offset + size;
      });
    }
  }
  for (const end of ['BE', 'LE'] as const) {
    method(`readUint${end}`, function (this: Uint8Array, offset: number, size: number) {
      return read(this, offset, size, end);
    });
    method(`readInt${end}`, function (this: Uint8Array, offset: number, size: number) {
      const value = read(this, offset, size, end);
      return value < 2 ** (size * 8 - 1) ? value : value - 2 ** (size * 8);
    });
    for (const name of ['Uint', 'Int']) {
      method(`write${name}${end}`, function (this: Uint8Array, value: number, offset: number, size: number) {
        return write(this, value, { offset, size, end });
      });
    }
  }
  for (const size of [2, 4, 8]) {
    method(`swap${size * 8}`, function (this: Uint8Array) {
      if (this.length % size !== 0)
        throw new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`);
      for (let at = 0; at < this.length; at += size) this.subarray(at, at + size).reverse();
      return this;
    });
  }
}

type End = 'BE' | 'LE';

function requireRange({ length }: Uint8Array, offset: number, size: number): void {
  const fits = Number.isInteger(size) && size >= 1 && size <= 6 && Number.isInteger(offset);
  if (!fits || offset < 0 || offset + size > length)
    throw new RangeError('Attempt to access outside the Buffer');
}

function read(bytes: Uint8Array, offset: number, size: number, end: End): number {
  requireRange(bytes, offset, size);
  // Not `slice`, which in a Buffer is a view.
  const part = new Uint8Array(bytes.subarray(offset, offset + size));
  if (end === 'LE') part.reverse();
  return part.reduce((sum, byte) => sum * 256 + byte, 0);
}

function write(
  bytes: Uint8Array,
  value: number,
  { offset, size, end }: { offset: number; size: number; end: End },
): number {
  requireRange(bytes, offset, size);
  let left = value < 0 ? value + 2 ** (size * 8) : value;
  for (let index = 0; index < size; index++) {
    bytes[end === 'LE' ? offset + index : offset + size - 1 - index] = left % 256;
    left = Math.floor(left / 256);
  }
  return offset + size;
}
