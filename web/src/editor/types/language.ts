import ts from 'typescript-in-browser';

const types = ["import('@medplum/core').MedplumClient", "import('@medplum/core').BotEvent<any>"];

/**
 * The code with the types of `medplum` and `event` where the author wrote none: after the names in TypeScript, before
 * them as comments in JavaScript.
 */
export function annotate(name: string, text: string) {
  const isTypeScript = /\.[cm]?ts$/.test(name);
  const parameters = handlerParameters(ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true));
  const insertions = parameters.flatMap((parameter, index) => {
    const type = types[index];
    if (!type || parameter.type || parameter.initializer || !ts.isIdentifier(parameter.name)) return [];
    if (!isTypeScript) return { at: parameter.name.getStart(), text: `/** @type {${type}} */ ` };
    return { at: parameter.name.end, text: `: ${type}` };
  });
  let annotated = '';
  let from = 0;
  for (const one of insertions) {
    annotated += text.slice(from, one.at) + one.text;
    from = one.at;
  }
  return {
    text: annotated + text.slice(from),
    /** A place of the author's text in this one. */
    inner: (at: number) => insertions.reduce((sum, one) => (one.at < at ? sum + one.text.length : sum), at),
    /** A place of this text in the author's. */
    outer: (at: number) =>
      insertions.reduceRight((place, one, index) => {
        const start =
          one.at + insertions.slice(0, index).reduce((sum, { text: { length } }) => sum + length, 0);
        if (place <= start) return place;
        return Math.max(one.at + (start - one.at), place - one.text.length);
      }, at),
  };
}

/** Of `export function handler`, `export const handler =` and `exports.handler =`. */
function handlerParameters(file: ts.SourceFile): readonly ts.ParameterDeclaration[] {
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === 'handler')
      return statement.parameters;
    if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        if (ts.isIdentifier(name) && name.text === 'handler') return parametersOf(initializer);
      }
    }
    if (ts.isExpressionStatement(statement) && ts.isBinaryExpression(statement.expression)) {
      const { left, right } = statement.expression;
      if (/^(?:module\.)?exports\.handler$/.test(left.getText())) return parametersOf(right);
    }
  }
  return [];
}

function parametersOf(node: ts.Expression | undefined): readonly ts.ParameterDeclaration[] {
  const isFunction = node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
  // A single name without parentheses has no room for a type.
  return isFunction && /^[^=]*\(/.test(node.getText()) ? node.parameters : [];
}

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
    check(file: CodeFile): Problem[] {
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
    /** Of each its name, and its kind as TypeScript says it: `method`, `property`, `keyword`, … */
    complete(file: CodeFile, at: number) {
      const { path, inner } = open(file);
      const found = service.getCompletionsAtPosition(path, inner(at), {});
      const entries = (found?.entries ?? []).filter(({ kind }) => kind !== ts.ScriptElementKind.warning);
      return entries.slice(0, mostCompletions).map(({ name, kind }) => ({ label: name, kind }));
    },
    /** The type of what stands there and its documentation; empty when there is nothing. */
    describe(file: CodeFile, at: number): string {
      const { path, inner } = open(file);
      const info = service.getQuickInfoAtPosition(path, inner(at));
      if (!info) return '';
      const parts = [info.displayParts, info.documentation].map((some) => ts.displayPartsToString(some));
      return parts.filter(Boolean).join('\n\n').slice(0, 2_000);
    },
  };
}

/** What the editor asks of its compiler, and is told. Places count characters from 0. */
export interface Problem {
  from: number;
  to: number;
  /** An error keeps the code from being deployed; a warning is a type that does not fit. */
  severity: 'error' | 'warning';
  message: string;
}

export interface CodeFile {
  name: string;
  text: string;
}

export type Language = ReturnType<typeof createLanguage>;

/** What the editor asks of its compiler in the worker: one of its methods. */
export interface Question<Kind extends keyof Language = keyof Language> {
  id: number;
  kind: Kind;
  given: Parameters<Language[Kind]>;
}

export type LanguageAnswer = { id: number; answer: unknown } | { id: number; failed: string };
