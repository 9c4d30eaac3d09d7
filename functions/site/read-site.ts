import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface SiteFile {
  contentType: string;
  bytes: Buffer;
  readonly gzipped: Buffer;
  /** Of the content, quoted. */
  etag: string;
  cacheControl: string;
}

/** The app's files by path below `/app/`. */
export type Site = ReadonlyMap<string, SiteFile>;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Reads the built app, once at cold start: some 8 MB, most of it the compiler of the Bots' editor.
 * @param stage what the app must know of the stage, as its `stage.json`
 * @throws {Error} when the folder is missing or holds what has no content type here
 */
export function readSite(folder: string, stage: { hasMailbox: boolean }): Site {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const read = files.map(({ parentPath, name }): [string, SiteFile] => {
    const path = join(parentPath, name);
    return [relative(folder, path).replaceAll(sep, '/'), siteFile(name, readFileSync(path))];
  });
  return new Map([...read, ['stage.json', siteFile('stage.json', Buffer.from(JSON.stringify(stage)))]]);
}

/** @param cacheControl unless its name holds a hash of its content: then it never changes */
export function siteFile(name: string, bytes: Buffer, cacheControl = 'no-cache'): SiteFile {
  const isImmutable = /-[\w-]{8}\.(js|css|svg|json)$/.test(name);
  const contentType = contentTypes[extname(name)];
  if (!contentType) throw new Error(`No content type for ${name}`);
  let packed: Buffer | undefined;
  return {
    contentType,
    bytes,
    // When it is first asked for: the editor's compiler would take a cold start half a second.
    get gzipped() {
      packed ??= gzipSync(bytes, { level: 9 });
      return packed;
    },
    etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
    cacheControl: isImmutable ? 'public, max-age=31536000, immutable' : cacheControl,
  };
}
