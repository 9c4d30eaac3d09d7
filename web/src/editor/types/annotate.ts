import ts from 'typescript-in-browser';

/** The code with the types of `medplum` and `event` where the author wrote none. */
export interface Annotated {
  text: string;
  /** A place of the author's text in this one. */
  inner(at: number): number;
  /** A place of this text in the author's. */
  outer(at: number): number;
}

const types = ["import('@medplum/core').MedplumClient", "import('@medplum/core').BotEvent<any>"];

/** Types are put after the names in TypeScript, before them as comments in JavaScript. */
export function annotate(name: string, text: string): Annotated {
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
    inner: (at) => insertions.reduce((sum, one) => (one.at < at ? sum + one.text.length : sum), at),
    outer: (at) =>
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
