import type { Token } from './source-tokens.js';

export interface Import {
  /** The module as written; null where it is not a plain string. */
  readonly from: string | null;
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Imports {
  readonly imports: readonly Import[];
  /** True where the file re-exports and has no other statement. */
  readonly barrel: boolean;
}

/** Every way to name another module: import, import type, export from, side effect, import(), in code and in types. */
export function importsOf(tokens: readonly Token[]): Imports {
  const imports: Import[] = [];
  let reExports = false;
  let ownStatements = false;
  let i = 0;
  while (i < tokens.length) {
    const token = tokens[i];
    if (token === undefined) break;
    const end = token.depth === 0 ? endOfModuleStatement(tokens, i) : null;
    if (end !== null) {
      const source = tokens[end];
      if (token.text === 'export') reExports = true;
      if (source?.kind === 'string') {
        imports.push({ from: source.text, typeOnly: isTypeOnly(tokens.slice(i, end)), line: token.line });
      }
      i = end + 1;
      continue;
    }
    if (isDynamicImport(tokens, i)) {
      const closes = [')', ','].includes(tokens[i + 3]?.text ?? '');
      const source = tokens[i + 2];
      const from = source?.kind === 'string' && closes ? source.text : null;
      imports.push({ from, typeOnly: false, line: token.line });
    }
    if (token.text !== ';') ownStatements = true;
    i += 1;
  }
  return { imports, barrel: reExports && !ownStatements };
}

/** The index of the last token of `import ... from 'x'`, `import 'x'`, `export ... from 'x'` or `export { ... }`; else null. */
function endOfModuleStatement(tokens: readonly Token[], start: number): number | null {
  const keyword = tokens[start];
  if (keyword?.kind !== 'word' || (keyword.text !== 'import' && keyword.text !== 'export')) return null;
  const next = tokens[start + 1];
  if (keyword.text === 'import' && next?.kind === 'string') return start + 1;
  if (next === undefined || next.text === '(' || next.text === '.') return null;
  const opens = next.text === 'type' ? tokens[start + 2]?.text : next.text;
  if (keyword.text === 'export' && opens !== '{' && opens !== '*') return null;
  for (let i = start + 1; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (token === undefined || token.depth > 0) continue;
    if (token.text === 'from' && tokens[i + 1]?.kind === 'string') return i + 1;
    if (token.text === '}' && tokens[i + 1]?.text !== 'from') return i;
    if (token.text === ';' || token.text === '=') return null;
  }
  return null;
}

function isDynamicImport(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text;
  return (
    tokens[at]?.kind === 'word' &&
    tokens[at]?.text === 'import' &&
    tokens[at + 1]?.text === '(' &&
    before !== '.' &&
    before !== '?.'
  );
}

/** `import type X`, `export type { X }`, and `import { type X, type Y }` where every name says so. */
function isTypeOnly(statement: readonly Token[]): boolean {
  const [, second, third] = statement;
  if (second?.text === 'type' && third?.text !== 'from' && third?.text !== ',') return true;
  if (second?.text !== '{') return false;
  const names = statement.filter(token => token.depth === 1);
  const firsts = names.filter((token, i) => token.text !== ',' && (i === 0 || names[i - 1]?.text === ','));
  return firsts.length > 0 && firsts.every(token => token.text === 'type');
}
