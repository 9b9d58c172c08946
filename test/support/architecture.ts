import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { BACK_DOORS, BUILT_IN_HOMES, EVERYTHING, HOMES, MAY_IMPORT } from './architecture-rules.js';
import { type Import, importsOf } from './source-imports.js';
import { type Token, tokensOf } from './source-tokens.js';

export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  /** What was found and what to do instead. */
  readonly say: string;
}

interface SourceFile {
  readonly file: string;
  readonly tokens: readonly Token[];
  readonly imports: readonly Import[];
  readonly barrel: boolean;
}

interface Use {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Every breach of the architecture under a folder that is laid out like src/. */
export function checkArchitecture(folder: string): Fault[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => posix.relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
  const faults: Fault[] = names.filter(name => !name.endsWith('.ts')).map(notTypeScript);
  const files: SourceFile[] = [];
  for (const file of names.filter(name => name.endsWith('.ts'))) {
    try {
      const tokens = tokensOf(readFileSync(join(folder, file), 'utf8'));
      files.push({ file, tokens, ...importsOf(tokens) });
    } catch (error) {
      faults.push({ file, line: 1, rule: 'readable source', say: `cannot be scanned: ${String(error)}` });
    }
  }
  const known = new Set(files.map(each => each.file));
  return [
    ...faults,
    ...files.flatMap(each => importFaults(each, known)),
    ...files.flatMap(shapeFaults),
    ...homeFaults(files.flatMap(usesOf)),
    ...cycleFaults(files, known),
  ];
}

export function explain(faults: readonly Fault[]): string {
  return faults.map(({ file, line, rule, say }) => `src/${file}:${line} [${rule}] ${say}`).join('\n');
}

function notTypeScript(file: string): Fault {
  return { file, line: 1, rule: 'only TypeScript', say: 'is not compiled into dist/; keep it outside src/' };
}

function areaOf(file: string): string {
  const [first = '', ...rest] = file.split('/');
  return rest.length > 0 ? first : first.replace(/\.ts$/, '');
}

function resolveImport(file: string, from: string): string {
  return posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts');
}

function importFaults({ file, imports }: SourceFile, known: ReadonlySet<string>): Fault[] {
  const area = areaOf(file);
  const may = Object.hasOwn(MAY_IMPORT, area) ? MAY_IMPORT[area] : undefined;
  if (may === undefined) {
    const say = `src/ has no place for "${area}"; put the file in one of: ${Object.keys(MAY_IMPORT).join(', ')}`;
    return [{ file, line: 1, rule: 'unknown area', say }];
  }
  return imports.flatMap(({ from, line }): Fault[] => {
    if (from === null) {
      return [
        { file, line, rule: 'plain import', say: 'import() must be given a plain string, to be checked' },
      ];
    }
    if (!from.startsWith('.')) return packageFaults(file, line, from);
    const target = resolveImport(file, from);
    if (!known.has(target)) {
      return [{ file, line, rule: 'plain import', say: `"${from}" is no .ts file of src/ named with .js` }];
    }
    const other = areaOf(target);
    if (other === area || may === EVERYTHING || may.some(each => isHome(each, target))) return [];
    const allowed = may.length === 0 ? 'nothing of ours' : `only ${may.join(', ')}`;
    const say = `"${from}" is not allowed: ${area} may import ${allowed}. Take it as an argument, or move the code`;
    return [{ file, line, rule: 'import table', say }];
  });
}

function packageFaults(file: string, line: number, from: string): Fault[] {
  if (from === 'module' || from === 'node:module') {
    return [{ file, line, rule: 'back door', say: 'node:module loads what the import table cannot see' }];
  }
  if (isBuiltin(from) || Object.hasOwn(HOMES, packageOf(from))) return [];
  return [
    {
      file,
      line,
      rule: 'unknown package',
      say: `"${from}" has no home in test/support/architecture-rules.ts`,
    },
  ];
}

function packageOf(from: string): string {
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/');
}

function homeOf(from: string): string | null {
  const builtIn = from.replace(/^node:/, '');
  if (isBuiltin(from))
    return Object.hasOwn(BUILT_IN_HOMES, builtIn) ? (BUILT_IN_HOMES[builtIn] ?? null) : null;
  return Object.hasOwn(HOMES, packageOf(from)) ? packageOf(from) : null;
}

function usesOf({ file, tokens, imports }: SourceFile): Use[] {
  const uses: Use[] = [];
  for (const { from, typeOnly, line } of imports) {
    const what = from === null || from.startsWith('.') ? null : homeOf(from);
    const harmless = typeOnly && (isBuiltin(from ?? '') || areaOf(file) === 'sandbox');
    if (what !== null && !harmless) uses.push({ file, line, what });
  }
  tokens.forEach((token, i) => {
    const what = token.kind === 'word' ? globalUse(tokens, i) : null;
    if (what !== null) uses.push({ file, line: token.line, what });
  });
  return uses;
}

/** The global that the word at `i` reaches, where that global has a home. */
function globalUse(tokens: readonly Token[], i: number): string | null {
  const text = (offset: number): string => tokens[i + offset]?.text ?? '';
  const dotted = (offset: number): boolean => text(offset) === '.' || text(offset) === '?.';
  if (dotted(-1) && !['globalThis', 'global'].includes(text(-2))) return null;
  if (text(0) === 'process') {
    const whole = !dotted(1) && !['(', ':', '[', '?', '='].includes(text(1));
    const env = dotted(1) ? ['env', 'loadEnvFile', '['].includes(text(2)) : text(1) === '[';
    return env || whole ? 'process.env' : null;
  }
  if (text(0) === 'fetch') {
    const isName = text(1) === ':' || (text(1) === '?' && text(2) === ':');
    return isName ? null : 'the global fetch';
  }
  if (text(0) === 'Date') {
    const named = dotted(1) && text(2) === 'now';
    const made = text(-1) === 'new' && (text(1) !== '(' || text(2) === ')');
    const called = text(-1) !== 'new' && text(1) === '(';
    return named || made || called ? 'the wall clock' : null;
  }
  if (text(0) === 'performance' && dotted(1) && text(2) === 'timeOrigin') return 'the wall clock';
  return ['WebSocket', 'EventSource', 'XMLHttpRequest'].includes(text(0)) ? 'a raw socket' : null;
}

function homeFaults(uses: readonly Use[]): Fault[] {
  return uses.flatMap(({ file, line, what }): Fault[] => {
    const { homes, sandbox } = HOMES[what] ?? { homes: [], sandbox: 'none' };
    const rule = `home of ${what}`;
    if (areaOf(file) !== 'sandbox') {
      if (homes.some(home => isHome(home, file))) return [];
      const say = `${what} lives in ${homes.join(', ') || 'no place at all'}; take a value or a function instead`;
      return [{ file, line, rule, say }];
    }
    if (sandbox === 'any') return [];
    if (sandbox === 'none') return [{ file, line, rule, say: `the sandbox does without ${what}` }];
    const files = new Set(
      uses.filter(use => use.what === what && areaOf(use.file) === 'sandbox').map(use => use.file),
    );
    if (files.size <= 1) return [];
    return [{ file, line, rule, say: `the sandbox has one file for ${what}, not ${[...files].join(', ')}` }];
  });
}

function isHome(home: string, file: string): boolean {
  if (home.endsWith('*')) return file.startsWith(home.slice(0, -1));
  return file === home || file.startsWith(`${home}/`) || areaOf(file) === home;
}

function shapeFaults({ file, tokens, barrel }: SourceFile): Fault[] {
  const faults: Fault[] = [];
  if (barrel) {
    faults.push({
      file,
      line: 1,
      rule: 'no barrel',
      say: 'only re-exports; import from the file that has the code',
    });
  }
  tokens.forEach((token, i) => {
    const { line, text } = token;
    if (token.kind === 'word' && BACK_DOORS.has(text) && tokens[i - 1]?.text !== '.') {
      faults.push({ file, line, rule: 'back door', say: `${text} reaches what the import table cannot see` });
    }
    if (token.text === 'getBuiltinModule' && tokens[i - 1]?.text === '.') {
      faults.push({ file, line, rule: 'back door', say: 'import the module instead' });
    }
    if (isModuleState(tokens, i)) {
      const say = 'module-level state that changes; keep it in a createX() closure';
      faults.push({ file, line, rule: 'no module state', say });
    }
  });
  return faults;
}

/** A `let` or `var` of the module, or a constant that starts as an empty collection and so must be filled later. */
function isModuleState(tokens: readonly Token[], i: number): boolean {
  const token = tokens[i];
  if (token?.depth !== 0) return false;
  if (token.kind === 'word' && (token.text === 'let' || token.text === 'var')) return true;
  if (token.text !== 'const') return false;
  const statement = tokens.slice(i, i + 40);
  const equals = statement.findIndex(each => each.depth === 0 && each.text === '=');
  if (equals < 0 || statement.slice(0, equals).some(each => /^readonly/i.test(each.text))) return false;
  const value = statement.slice(equals + 1).map(each => each.text);
  if (['[]', '{}'].includes(value.slice(0, 2).join(''))) return true;
  if (value[0] !== 'new' || !/^(Weak)?(Map|Set)$/.test(value[1] ?? '')) return false;
  return value[value.indexOf('(') + 1] === ')';
}

function cycleFaults(files: readonly SourceFile[], known: ReadonlySet<string>): Fault[] {
  const edges = new Map(
    files.map(({ file, imports }) => {
      const targets = imports.flatMap(({ from }) =>
        from?.startsWith('.') ? [resolveImport(file, from)] : [],
      );
      return [file, targets.filter(target => known.has(target))];
    }),
  );
  const faults: Fault[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      const ring = [...path.slice(path.indexOf(file)), file].join(' -> ');
      faults.push({ file, line: 1, rule: 'no cycle', say: `${ring}; move what both need into a third file` });
      return;
    }
    if (done.has(file)) return;
    for (const target of edges.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const { file } of files) visit(file, []);
  return faults;
}
