import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import {
  BUILT_IN_HOMES,
  HOMES,
  MAY_IMPORT,
  PAGE_FOLDER,
  SQL_AREAS,
  SQL_COMPILERS,
} from './architecture-rules.js';
import { readSource, type Source } from './source.js';

export interface ArchitectureFault {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  /** What was found and what to do instead. */
  readonly message: string;
}

interface SourceFile extends Source {
  readonly file: string;
}

interface DependencyUse {
  readonly file: string;
  readonly line: number;
  readonly dependency: string;
}

/** Finds every breach of the architecture under a folder that is laid out like src/. */
export function checkArchitecture(folder: string): ArchitectureFault[] {
  const migrationNames = listFileNames(join(folder, '../migrations'));
  const paths = new Map([
    ...listFileNames(folder).map(name => [name, name] as const),
    ...migrationNames.map(name => [`migrations/${name}`, `../migrations/${name}`] as const),
  ]);
  const faults: ArchitectureFault[] = [...paths.keys()]
    .filter(name => !name.endsWith('.ts') && !name.startsWith(PAGE_FOLDER))
    .map(createNotTypeScriptFault);
  const files: SourceFile[] = [];
  for (const [file, path] of paths) {
    if (!file.endsWith('.ts')) continue;
    try {
      files.push({ file, ...readSource(readFileSync(join(folder, path), 'utf8')) });
    } catch (error) {
      faults.push({ file, line: 1, rule: 'readable source', message: `cannot be scanned: ${String(error)}` });
    }
  }
  const known = new Set(files.map(each => each.file));
  return [
    ...faults,
    ...files.flatMap(each => findImportFaults(each, known)),
    ...files.flatMap(findShapeFaults),
    ...files.flatMap(findSqlFaults),
    ...findHomeFaults(files.flatMap(listDependencyUses)),
    ...findCycleFaults(files, known),
  ];
}

function listFileNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => posix.relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

export function formatFaults(faults: readonly ArchitectureFault[]): string {
  return faults.map(({ file, line, rule, message }) => `src/${file}:${line} [${rule}] ${message}`).join('\n');
}

function createNotTypeScriptFault(file: string): ArchitectureFault {
  return {
    file,
    line: 1,
    rule: 'only TypeScript',
    message: 'is not compiled into dist/; keep it outside src/',
  };
}

/** Returns the deepest folder or file with its own row in the import table, or else the top folder. */
function findArea(file: string): string {
  const parts = file.replace(/\.ts$/, '').split('/');
  const within = parts.map((_, at) => parts.slice(0, at + 1).join('/'));
  return within.findLast(area => Object.hasOwn(MAY_IMPORT, area)) ?? parts[0] ?? '';
}

function resolveImport(file: string, from: string): string {
  return posix
    .join(posix.dirname(file), from)
    .replace(/^\.\.\//, '')
    .replace(/\.js$/, '.ts');
}

function findImportFaults({ file, imports }: SourceFile, known: ReadonlySet<string>): ArchitectureFault[] {
  const area = findArea(file);
  const allowedImports = Object.hasOwn(MAY_IMPORT, area) ? MAY_IMPORT[area] : undefined;
  if (allowedImports === undefined) {
    const message = `src/ has no place for "${area}"; put the file in one of: ${Object.keys(MAY_IMPORT).join(', ')}`;
    return [{ file, line: 1, rule: 'unknown area', message }];
  }
  return imports.flatMap(({ from, line }): ArchitectureFault[] => {
    if (from === null) {
      return [
        { file, line, rule: 'plain import', message: 'import() must be given a plain string, to be checked' },
      ];
    }
    if (!from.startsWith('.')) return findPackageFaults(file, line, from);
    const target = resolveImport(file, from);
    if (!known.has(target)) {
      return [
        { file, line, rule: 'plain import', message: `"${from}" is no .ts file of src/ named with .js` },
      ];
    }
    const other = findArea(target);
    if (other === area || allowedImports.some(each => isWithinHome(each, target))) return [];
    const allowed = allowedImports.length === 0 ? 'nothing of ours' : `only ${allowedImports.join(', ')}`;
    const message = `"${from}" is not allowed: ${area} may import ${allowed}. Take it as an argument, or move the code`;
    return [{ file, line, rule: 'import table', message }];
  });
}

function findPackageFaults(file: string, line: number, from: string): ArchitectureFault[] {
  if (from === 'module' || from === 'node:module') {
    return [{ file, line, rule: 'back door', message: 'node:module loads what the import table cannot see' }];
  }
  if (isBuiltin(from) || Object.hasOwn(HOMES, getPackageName(from))) return [];
  return [
    {
      file,
      line,
      rule: 'unknown package',
      message: `"${from}" has no home in test/support/architecture-rules.ts`,
    },
  ];
}

function getPackageName(from: string): string {
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/');
}

function findHomeKey(from: string): string | null {
  const builtIn = from.replace(/^node:/, '');
  if (isBuiltin(from))
    return Object.hasOwn(BUILT_IN_HOMES, builtIn) ? (BUILT_IN_HOMES[builtIn] ?? null) : null;
  return Object.hasOwn(HOMES, getPackageName(from)) ? getPackageName(from) : null;
}

function listDependencyUses({ file, globals, imports }: SourceFile): DependencyUse[] {
  const packages = imports.flatMap(({ from, typeOnly, line }) => {
    const dependency = from === null || from.startsWith('.') ? null : findHomeKey(from);
    const harmless = typeOnly && (isBuiltin(from ?? '') || findArea(file) === 'sandbox');
    return dependency === null || harmless ? [] : [{ dependency, line }];
  });
  return [...packages, ...globals].map(use => ({ file, ...use }));
}

function findHomeFaults(uses: readonly DependencyUse[]): ArchitectureFault[] {
  return uses.flatMap(({ file, line, dependency }): ArchitectureFault[] => {
    const { homes, sandbox } = HOMES[dependency] ?? { homes: [], sandbox: 'none' };
    const rule = `home of ${dependency}`;
    if (findArea(file) !== 'sandbox') {
      if (homes.some(home => isWithinHome(home, file))) return [];
      const message = `${dependency} lives in ${homes.join(', ') || 'no place at all'}; take a value or a function instead`;
      return [{ file, line, rule, message }];
    }
    if (sandbox === 'any') return [];
    if (sandbox === 'none') return [{ file, line, rule, message: `the sandbox does without ${dependency}` }];
    const files = new Set(
      uses
        .filter(use => use.dependency === dependency && findArea(use.file) === 'sandbox')
        .map(use => use.file),
    );
    if (files.size <= 1) return [];
    return [
      {
        file,
        line,
        rule,
        message: `the sandbox has one file for ${dependency}, not ${[...files].join(', ')}`,
      },
    ];
  });
}

function isWithinHome(home: string, file: string): boolean {
  if (home.endsWith('*')) return file.startsWith(home.slice(0, -1));
  return file === home || file.startsWith(`${home}/`) || findArea(file) === home;
}

function findShapeFaults({ file, backDoors, isBarrel, moduleState }: SourceFile): ArchitectureFault[] {
  const fault = (rule: string, line: number, message: string): ArchitectureFault => ({
    file,
    line,
    rule,
    message,
  });
  return [
    ...(isBarrel ? [fault('no barrel', 1, 'only re-exports; import from the file that has the code')] : []),
    ...backDoors.map(({ dependency, line }) =>
      fault('back door', line, `${dependency} reaches what the import table cannot see`),
    ),
    ...moduleState.map(line =>
      fault('no module state', line, 'module-level state that changes; keep it in a createX() closure'),
    ),
  ];
}

function findSqlFaults({ file, sqlTexts, declaredRows }: SourceFile): ArchitectureFault[] {
  if (!SQL_AREAS.some(area => isWithinHome(area, file)) || SQL_COMPILERS.includes(file)) return [];
  return [
    ...sqlTexts.map(line => ({
      file,
      line,
      rule: 'SQL by Kysely',
      message:
        'nobody checks the columns of this text; build the statement with Kysely or write it with sqlStatement',
    })),
    ...declaredRows.map(line => ({
      file,
      line,
      rule: 'inferred rows',
      message: 'nobody checks this row type; use the builder, or the function select() in sqlStatement',
    })),
  ];
}

function findCycleFaults(files: readonly SourceFile[], known: ReadonlySet<string>): ArchitectureFault[] {
  const edges = new Map(
    files.map(({ file, imports }) => {
      const targets = imports.flatMap(({ from }) =>
        from?.startsWith('.') ? [resolveImport(file, from)] : [],
      );
      return [file, targets.filter(target => known.has(target))];
    }),
  );
  const faults: ArchitectureFault[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      const ring = [...path.slice(path.indexOf(file)), file].join(' -> ');
      faults.push({
        file,
        line: 1,
        rule: 'no cycle',
        message: `${ring}; move what both need into a third file`,
      });
      return;
    }
    if (done.has(file)) return;
    for (const target of edges.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const { file } of files) visit(file, []);
  return faults;
}
