import type { Right } from '../access/access-token.ts';

/** A route: one row of the table in functions/routes.ts. */
export interface Row {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';
  /** With `{name}` for one segment and `{name+}` for all that follow; `$default` for whatever is no route. */
  readonly path: string;
  readonly access: 'public' | Right;
}

/** The routes of one function, by name. */
export type Rows = Readonly<Record<string, Row>>;

/** The parameters that a path names, decoded. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name extends `${infer Greedy}+` ? Greedy : Name]: string } & PathParams<Rest>
  : Record<never, string>;

/** A row as API Gateway writes it in `event.routeKey`. */
export function routeKey({ method, path }: Pick<Row, 'method' | 'path'>): string {
  return path === '$default' ? path : `${method} ${path}`;
}
