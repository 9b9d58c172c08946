import { parseAst } from 'rolldown/parseAst';

interface Import {
  /** The module as written; null if it is not a plain string. */
  readonly from: string | null;
  readonly typeOnly: boolean;
  readonly line: number;
}

interface SourceMatch {
  readonly dependency: string;
  readonly line: number;
}

export interface Source {
  /** All references to other modules: import, import type, export from, and import() in code and in types. */
  readonly imports: readonly Import[];
  /** True if the file contains nothing but re-exports. */
  readonly isBarrel: boolean;
  /** Uses of globals that only some files may use. */
  readonly globals: readonly SourceMatch[];
  /** Identifiers that can load a module without an import. */
  readonly backDoors: readonly SourceMatch[];
  /** Lines of module-level variables that can change. */
  readonly moduleState: readonly number[];
  /** Lines of texts that are SQL statements about data, outside the tags `sql` and `sqlStatement`. */
  readonly sqlTexts: readonly number[];
  /** Lines of statements whose row type is declared, so that it is not checked. */
  readonly declaredRows: readonly number[];
}

/** The fields that this file reads from parser nodes of all kinds. */
interface ParserNode {
  readonly type: string;
  readonly start: number;
  readonly name?: unknown;
  readonly kind?: unknown;
  readonly value?: unknown;
  readonly source?: unknown;
  readonly specifiers?: unknown;
  readonly importKind?: unknown;
  readonly exportKind?: unknown;
  readonly quasis?: unknown;
  readonly declaration?: unknown;
  readonly declarations?: unknown;
  readonly id?: unknown;
  readonly init?: unknown;
  readonly elements?: unknown;
  readonly properties?: unknown;
  readonly object?: unknown;
  readonly property?: unknown;
  readonly computed?: unknown;
  readonly shorthand?: unknown;
  readonly key?: unknown;
  readonly callee?: unknown;
  readonly arguments?: unknown;
  readonly typeAnnotation?: unknown;
  readonly typeName?: unknown;
  readonly operator?: unknown;
  readonly tag?: unknown;
  readonly quasi?: unknown;
  readonly typeArguments?: unknown;
}

const RE_EXPORTS = new Set(['ExportAllDeclaration', 'ExportNamedDeclaration']);
const MODULE_STATEMENTS = new Set(['ImportDeclaration', ...RE_EXPORTS]);
const GLOBAL_OBJECTS = new Set(['globalThis', 'global']);
const SOCKETS = new Set(['WebSocket', 'EventSource', 'XMLHttpRequest']);
const BACK_DOORS = new Set(['require', 'createRequire', 'getBuiltinModule', 'eval']);

export function readSource(text: string): Source {
  const program = parseAst(text, { lang: 'ts' });
  const statements = nodesIn(program.body);
  const lineOf = (node: ParserNode): number => text.slice(0, node.start).split('\n').length;
  const found = { imports: [] as Import[], globals: [] as SourceMatch[], backDoors: [] as SourceMatch[] };
  const sqlLines = { sqlTexts: [] as number[], declaredRows: [] as number[] };
  walk(statements, [], (node, above) => {
    const line = lineOf(node);
    if (isModuleReference(node)) found.imports.push({ ...describeImport(node), line });
    const global = findRestrictedGlobal(node, above);
    if (global !== null) found.globals.push({ dependency: global, line });
    const door = findBackDoor(node, above.at(-1));
    if (door !== null) found.backDoors.push({ dependency: door, line });
    if (isSqlText(node, above.at(-1))) sqlLines.sqlTexts.push(line);
    if (hasDeclaredRow(node)) sqlLines.declaredRows.push(line);
  });
  return {
    ...found,
    ...sqlLines,
    isBarrel: statements.some(isReExport) && statements.every(each => isReExport(each) || isImport(each)),
    moduleState: statements.flatMap(listVariables).filter(isMutable).map(lineOf),
  };
}

function walk(
  value: unknown,
  above: readonly ParserNode[],
  visit: (node: ParserNode, above: readonly ParserNode[]) => void,
) {
  for (const node of nodesIn(value)) {
    visit(node, above);
    for (const child of Object.values(node)) walk(child, [...above, node], visit);
  }
}

function nodesIn(value: unknown): ParserNode[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter(isNode);
}

function isNode(value: unknown): value is ParserNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isModuleReference(node: ParserNode): boolean {
  if (node.type === 'ImportExpression' || node.type === 'TSImportType') return true;
  return MODULE_STATEMENTS.has(node.type) && isNode(node.source);
}

function describeImport(node: ParserNode): Omit<Import, 'line'> {
  const [kind] = [node.importKind, node.exportKind].filter(each => typeof each === 'string');
  const names = nodesIn(node.specifiers);
  const everyName = names.length > 0 && names.every(each => each.importKind === 'type');
  return { from: getPlainString(node.source), typeOnly: kind === 'type' || everyName };
}

function getPlainString(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (typeof node.value === 'string') return node.value;
  const [quasi, ...more] = nodesIn(node.quasis);
  if (quasi === undefined || more.length > 0) return null;
  const { value } = quasi;
  return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : null;
}

function isImport(node: ParserNode): boolean {
  return node.type === 'ImportDeclaration';
}

function isReExport(node: ParserNode): boolean {
  return RE_EXPORTS.has(node.type) && !isNode(node.declaration);
}

/** Privileges, such as `SELECT ON ALL TABLES`, are not statements. */
const DATA_STATEMENT =
  /\b(?:SELECT\s(?!ON\b)|INSERT\s+INTO\b|DELETE\s+FROM\b|UPDATE\s+\S+(?:\s+AS\s+\w+)?\s+SET\b)/;
const SQL_TAGS = new Set(['sql', 'sqlStatement']);

function isSqlText(node: ParserNode, parent: ParserNode | undefined): boolean {
  return !(parent !== undefined && isSqlTemplate(parent)) && DATA_STATEMENT.test(getText(node) ?? '');
}

function isSqlTemplate({ type, tag }: ParserNode): boolean {
  return type === 'TaggedTemplateExpression' && isNode(tag) && SQL_TAGS.has(String(tag.name));
}

/** Returns the text of a string or a template, with a placeholder for each expression; null for other nodes. */
function getText({ type, value, quasis }: ParserNode): string | null {
  if (type === 'Literal') return typeof value === 'string' ? value : null;
  if (type !== 'TemplateLiteral') return null;
  return nodesIn(quasis)
    .map(({ value: part }) =>
      typeof part === 'object' && part !== null && 'cooked' in part ? part.cooked : '',
    )
    .join('…');
}

/** Kysely does not compare a declared row type with the columns of a statement. */
function hasDeclaredRow(node: ParserNode): boolean {
  if (!isNode(node.typeArguments)) return false;
  if (node.type === 'TSTypeReference') return isNamed(node.typeName, 'CompiledQuery');
  const text = isNode(node.quasi) ? getText(node.quasi) : null;
  return (
    isSqlTemplate(node) && text !== null && /^\s*(?:SELECT|WITH|VALUES|INSERT|UPDATE|DELETE)\b/.test(text)
  );
}

/** Returns the restricted global that an identifier uses; null if none. */
function findRestrictedGlobal(node: ParserNode, above: readonly ParserNode[]): string | null {
  const name = getGlobalName(node, above);
  if (name === null) return null;
  const [parent, outer] = above.toReversed().filter(each => !isGlobalMember(each, node));
  const member = parent !== undefined && isObjectOf(parent, above, node) ? getMemberName(parent) : null;
  if (name === 'process') {
    if (member === 'stdout') return 'process.stdout';
    return member === null || ['env', 'loadEnvFile'].includes(member) ? 'process.env' : null;
  }
  if (name === 'console') return 'the console';
  if (name === 'fetch') return 'the global fetch';
  if (name === 'Date') return readsClock(parent, outer, member) ? 'the wall clock' : null;
  if (name === 'performance') return member === 'timeOrigin' ? 'the wall clock' : null;
  return SOCKETS.has(name) ? 'a raw socket' : null;
}

/** Returns the name of a global that is used alone or as `globalThis.name`; null for keys and members of other objects. */
function getGlobalName(node: ParserNode, above: readonly ParserNode[]): string | null {
  const name = node.type === 'Identifier' && typeof node.name === 'string' ? node.name : null;
  const parent = above.at(-1);
  if (parent === undefined || isKey(parent, node)) return null;
  if (isMember(parent) && parent.property === node && parent.computed !== true) {
    return isGlobalMember(parent, node) ? name : null;
  }
  return name;
}

function isMember(node: ParserNode): boolean {
  return node.type === 'MemberExpression' || node.type === 'TSQualifiedName';
}

/** Returns whether the node is the name in `globalThis.name`. */
function isGlobalMember(parent: ParserNode, node: ParserNode): boolean {
  const { object } = parent;
  const isGlobal = isNode(object) && typeof object.name === 'string' && GLOBAL_OBJECTS.has(object.name);
  return isMember(parent) && parent.property === node && isGlobal;
}

function isObjectOf(parent: ParserNode, above: readonly ParserNode[], node: ParserNode): boolean {
  return isMember(parent) && (parent.object === node || above.some(each => each === parent.object));
}

function isKey(parent: ParserNode, node: ParserNode): boolean {
  return parent.key === node && parent.computed !== true && parent.shorthand !== true;
}

/** Returns the name of a member; null if it is computed. */
function getMemberName(parent: ParserNode): string | null {
  const { property } = parent;
  return parent.computed !== true && isNode(property) && typeof property.name === 'string'
    ? property.name
    : null;
}

function readsClock(
  parent: ParserNode | undefined,
  outer: ParserNode | undefined,
  member: string | null,
): boolean {
  if (member !== null) return member === 'now';
  if (parent?.type === 'CallExpression') return isNamed(parent.callee, 'Date');
  if (parent?.type !== 'NewExpression' || outer === undefined) return false;
  return isNamed(parent.callee, 'Date') && nodesIn(parent.arguments).length === 0;
}

function isNamed(node: unknown, name: string): boolean {
  if (!isNode(node)) return false;
  return node.name === name || (isMember(node) && getMemberName(node) === name);
}

function findBackDoor(node: ParserNode, parent: ParserNode | undefined): string | null {
  if (node.type !== 'Identifier' || typeof node.name !== 'string' || !BACK_DOORS.has(node.name)) return null;
  if (parent !== undefined && isKey(parent, node)) return null;
  const isMemberOf = parent !== undefined && isMember(parent) && parent.property === node;
  return isMemberOf && node.name !== 'getBuiltinModule' ? null : node.name;
}

function listVariables(statement: ParserNode): ParserNode[] {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  if (declaration.type !== 'VariableDeclaration') return [];
  return nodesIn(declaration.declarations).map(each => ({ ...each, kind: declaration.kind }));
}

/** Returns whether a variable is a `let`, a `var`, or a constant that starts as an empty collection. */
function isMutable({ kind, id, init }: ParserNode): boolean {
  if (kind !== 'const') return true;
  if (!isNode(init) || hasReadonlyType(id)) return false;
  const parts = { ArrayExpression: init.elements, ObjectExpression: init.properties }[init.type];
  if (parts !== undefined) return nodesIn(parts).length === 0;
  const { callee } = init;
  const isCollection =
    init.type === 'NewExpression' && isNode(callee) && /^(Weak)?(Map|Set)$/.test(String(callee.name));
  return isCollection && nodesIn(init.arguments).length === 0;
}

function hasReadonlyType(id: unknown): boolean {
  const annotation = isNode(id) ? id.typeAnnotation : null;
  const type = isNode(annotation) ? annotation.typeAnnotation : null;
  if (!isNode(type)) return false;
  const { typeName } = type;
  return type.operator === 'readonly' || (isNode(typeName) && /^readonly/i.test(String(typeName.name)));
}
