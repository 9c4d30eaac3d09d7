/** As Vite answers it: of each file how to load it. */
interface ImportMeta {
  glob<T>(pattern: string, options: { query: string; import: 'default' }): Record<string, () => Promise<T>>;
}
