import ts from 'typescript-in-browser';

type Kind = 'guard' | 'condition' | 'bound';

/** A change at one place of a file which a test should notice. */
export interface Mutant {
  /** A path from the root. */
  file: string;
  line: number;
  kind: Kind;
  /** Where in the text the original begins. */
  from: number;
  original: string;
  mutated: string;
}

/** Every mutant of a file, in the order of its text. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const add = (kind: Kind, node: ts.Node, mutated: string) => {
    const from = node.getStart();
    const line = tree.getLineAndCharacterOfPosition(from).line + 1;
    found.push({ file, line, kind, from, original: node.getText(), mutated });
  };
  const visit = (node: ts.Node): void => {
    if (isGuard(node)) add('guard', node, '{}');
    const test = testOf(node);
    if (test) add('condition', test, `!(${test.getText()})`);
    if (ts.isBinaryExpression(node)) {
      for (const operand of operandsOf(node)) add('condition', node, operand);
      for (const comparison of neighboursOf(node)) add('bound', node, comparison);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The text of the file with the mutant in it. */
export function withMutant(source: string, { from, original, mutated }: Mutant): string {
  return source.slice(0, from) + mutated + source.slice(from + original.length);
}

/** An `if` that only leaves. */
function isGuard(node: ts.Node): boolean {
  return ts.isIfStatement(node) && !node.elseStatement && leaves(node.thenStatement);
}

/** Whether a statement ends with one that leaves the function or the turn of a loop. */
function leaves(statement: ts.Statement | undefined): boolean {
  if (!statement) return false;
  if (ts.isBlock(statement)) return leaves(statement.statements.at(-1));
  return (
    ts.isReturnStatement(statement) ||
    ts.isThrowStatement(statement) ||
    ts.isBreakOrContinueStatement(statement)
  );
}

function testOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return node.expression;
  if (ts.isForStatement(node) || ts.isConditionalExpression(node)) return node.condition;
  return undefined;
}

/** Of `&&` and `||`: each side alone. */
function operandsOf({ left, operatorToken, right }: ts.BinaryExpression): string[] {
  if (!['&&', '||'].includes(operatorToken.getText())) return [];
  // An object where a block may stand would be read as one.
  return [left, right].map((side) => side.getText()).map((code) => (/^\{/.test(code) ? `(${code})` : code));
}

const otherBound = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }));

/** Of a comparison: with its bound taken in or left out, and with a number in it one less and one more. */
function neighboursOf({ left, operatorToken, right }: ts.BinaryExpression): string[] {
  const [a = '', operator = '', b = ''] = [left, operatorToken, right].map((part) => part.getText());
  const other = otherBound.get(operator);
  if (other === undefined && !['===', '!=='].includes(operator)) return [];
  return [
    ...(other === undefined ? [] : [`${a} ${other} ${b}`]),
    ...besides(a).map((number) => `${number} ${operator} ${b}`),
    ...besides(b).map((number) => `${a} ${operator} ${number}`),
  ];
}

/** Of a number as it is written: one less and one more. */
function besides(code: string): number[] {
  const value = /^-?\d/.test(code) ? Number(code.replaceAll('_', '')) : Number.NaN;
  return Number.isNaN(value) ? [] : [value - 1, value + 1];
}
