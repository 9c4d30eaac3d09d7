/** What the build (infra/site) puts in. */
interface ImportMeta {
  /** Of each file how to load it. */
  glob<T>(pattern: string, options: { query: string; import: 'default' }): Record<string, () => Promise<T>>;
  env: {
    /** The address of what the editor's compiler knows. */
    DECLARATIONS: string;
  };
}
