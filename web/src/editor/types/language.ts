import ts from 'typescript-in-browser';
import { annotate } from './annotate.ts';
import type { Answers, CodeFile, Problem } from './protocol.ts';

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  noImplicitAny: false,
  allowJs: true,
  skipLibCheck: true,
  lib: ['lib.es2025.d.ts'],
  types: [],
  // As the deploy, which strips types.
  isolatedModules: true,
};

const folder = '/examples/bots';
const mostCompletions = 500;

/** A compiler that knows these files, and one of the author's beside them. @param files texts by path */
export function createLanguage(files: ReadonlyMap<string, string>) {
  let current = { path: '', text: '', version: 0 };
  const textOf = (path: string) => (path === current.path ? current.text : files.get(path));
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => ['/bot-globals.d.ts', current.path],
    getScriptVersion: (path) => (path === current.path ? String(current.version) : '1'),
    getScriptSnapshot(path) {
      const text = textOf(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => '/',
    getDefaultLibFileName: () => '/lib/lib.es2025.d.ts',
    fileExists: (path) => textOf(path) !== undefined,
    readFile: textOf,
    directoryExists: () => true,
    getDirectories: () => [],
  };
  const service = ts.createLanguageService(host, ts.createDocumentRegistry());
  const open = ({ name, text }: CodeFile) => {
    const path = `${folder}/${/^[\w.-]+\.[cm]?[jt]s$/.test(name) ? name : 'index.ts'}`;
    const annotated = annotate(path, text);
    if (path !== current.path || annotated.text !== current.text) {
      current = { path, text: annotated.text, version: current.version + 1 };
    }
    return { path, ...annotated };
  };
  return {
    check(file: CodeFile): Answers['check'] {
      const { path, outer } = open(file);
      const said = (all: readonly ts.Diagnostic[], severity: Problem['severity']): Problem[] =>
        all.map(({ start = 0, length = 0, messageText }) => ({
          from: outer(start),
          to: outer(start + length),
          severity,
          message: ts.flattenDiagnosticMessageText(messageText, ' '),
        }));
      return [
        ...said(service.getSyntacticDiagnostics(path), 'error'),
        ...said(service.getSemanticDiagnostics(path), 'warning'),
      ];
    },
    complete(file: CodeFile, at: number): Answers['complete'] {
      const { path, inner } = open(file);
      const found = service.getCompletionsAtPosition(path, inner(at), {});
      const entries = (found?.entries ?? []).filter(({ kind }) => kind !== ts.ScriptElementKind.warning);
      return entries.slice(0, mostCompletions).map(({ name, kind }) => ({ label: name, kind }));
    },
    describe(file: CodeFile, at: number): Answers['describe'] {
      const { path, inner } = open(file);
      const info = service.getQuickInfoAtPosition(path, inner(at));
      if (!info) return '';
      const parts = [info.displayParts, info.documentation].map((some) => ts.displayPartsToString(some));
      return parts.filter(Boolean).join('\n\n').slice(0, 2_000);
    },
  };
}
