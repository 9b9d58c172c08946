import { parseAst } from 'rolldown/parseAst';

interface Import {
  /** The module as written; null if it is not a plain string. */
  readonly from: string | null;
  readonly typeOnly: boolean;
  readonly line: number;
}

interface Found {
  readonly what: string;
  readonly line: number;
}

export interface Source {
  /** All references to other modules: import, import type, export from, and import() in code and in types. */
  readonly imports: readonly Import[];
  /** True if the file contains nothing but re-exports. */
  readonly isBarrel: boolean;
  /** Uses of globals that only some files may use. */
  readonly globals: readonly Found[];
  /** Identifiers that can load a module without an import. */
  readonly backDoors: readonly Found[];
  /** Lines of module-level variables that can change. */
  readonly moduleState: readonly number[];
}

/** The fields that this file reads from parser nodes of all kinds. */
interface Node {
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
}

const RE_EXPORTS = new Set(['ExportAllDeclaration', 'ExportNamedDeclaration']);
const MODULE_STATEMENTS = new Set(['ImportDeclaration', ...RE_EXPORTS]);
const GLOBAL_OBJECTS = new Set(['globalThis', 'global']);
const SOCKETS = new Set(['WebSocket', 'EventSource', 'XMLHttpRequest']);
const BACK_DOORS = new Set(['require', 'createRequire', 'getBuiltinModule', 'eval']);

export function readSource(text: string): Source {
  const program = parseAst(text, { lang: 'ts' });
  const statements = nodesIn(program.body);
  const lineOf = (node: Node): number => text.slice(0, node.start).split('\n').length;
  const found = { imports: [] as Import[], globals: [] as Found[], backDoors: [] as Found[] };
  walk(statements, [], (node, above) => {
    const line = lineOf(node);
    if (isNaming(node)) found.imports.push({ ...named(node), line });
    const global = globalUse(node, above);
    if (global !== null) found.globals.push({ what: global, line });
    const door = backDoor(node, above.at(-1));
    if (door !== null) found.backDoors.push({ what: door, line });
  });
  return {
    ...found,
    isBarrel: statements.some(isReExport) && statements.every(each => isReExport(each) || isImport(each)),
    moduleState: statements.flatMap(variablesOf).filter(changes).map(lineOf),
  };
}

function walk(value: unknown, above: readonly Node[], visit: (node: Node, above: readonly Node[]) => void) {
  for (const node of nodesIn(value)) {
    visit(node, above);
    for (const child of Object.values(node)) walk(child, [...above, node], visit);
  }
}

function nodesIn(value: unknown): Node[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isNaming(node: Node): boolean {
  if (node.type === 'ImportExpression' || node.type === 'TSImportType') return true;
  return MODULE_STATEMENTS.has(node.type) && isNode(node.source);
}

function named(node: Node): Omit<Import, 'line'> {
  const [kind] = [node.importKind, node.exportKind].filter(each => typeof each === 'string');
  const names = nodesIn(node.specifiers);
  const everyName = names.length > 0 && names.every(each => each.importKind === 'type');
  return { from: plainText(node.source), typeOnly: kind === 'type' || everyName };
}

function plainText(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (typeof node.value === 'string') return node.value;
  const [quasi, ...more] = nodesIn(node.quasis);
  if (quasi === undefined || more.length > 0) return null;
  const { value } = quasi;
  return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : null;
}

function isImport(node: Node): boolean {
  return node.type === 'ImportDeclaration';
}

function isReExport(node: Node): boolean {
  return RE_EXPORTS.has(node.type) && !isNode(node.declaration);
}

/** Returns the restricted global that an identifier uses; null if none. */
function globalUse(node: Node, above: readonly Node[]): string | null {
  const name = globalName(node, above);
  if (name === null) return null;
  const [parent, outer] = above.toReversed().filter(each => !isReach(each, node));
  const member = parent !== undefined && isObjectOf(parent, above, node) ? memberName(parent) : null;
  if (name === 'process') {
    return member === null || ['env', 'loadEnvFile'].includes(member) ? 'process.env' : null;
  }
  if (name === 'fetch') return 'the global fetch';
  if (name === 'Date') return tellsTime(parent, outer, member) ? 'the wall clock' : null;
  if (name === 'performance') return member === 'timeOrigin' ? 'the wall clock' : null;
  return SOCKETS.has(name) ? 'a raw socket' : null;
}

/** Returns the name of a global that is used alone or as `globalThis.name`; null for keys and members of other objects. */
function globalName(node: Node, above: readonly Node[]): string | null {
  const name = node.type === 'Identifier' && typeof node.name === 'string' ? node.name : null;
  const parent = above.at(-1);
  if (parent === undefined || isKey(parent, node)) return null;
  if (isMember(parent) && parent.property === node && parent.computed !== true) {
    return isReach(parent, node) ? name : null;
  }
  return name;
}

function isMember(node: Node): boolean {
  return node.type === 'MemberExpression' || node.type === 'TSQualifiedName';
}

/** Returns whether the node is the name in `globalThis.name`. */
function isReach(parent: Node, node: Node): boolean {
  const { object } = parent;
  const isGlobal = isNode(object) && typeof object.name === 'string' && GLOBAL_OBJECTS.has(object.name);
  return isMember(parent) && parent.property === node && isGlobal;
}

function isObjectOf(parent: Node, above: readonly Node[], node: Node): boolean {
  return isMember(parent) && (parent.object === node || above.some(each => each === parent.object));
}

function isKey(parent: Node, node: Node): boolean {
  return parent.key === node && parent.computed !== true && parent.shorthand !== true;
}

/** Returns the name of a member; null if it is computed. */
function memberName(parent: Node): string | null {
  const { property } = parent;
  return parent.computed !== true && isNode(property) && typeof property.name === 'string'
    ? property.name
    : null;
}

function tellsTime(parent: Node | undefined, outer: Node | undefined, member: string | null): boolean {
  if (member !== null) return member === 'now';
  if (parent?.type === 'CallExpression') return isNamed(parent.callee, 'Date');
  if (parent?.type !== 'NewExpression' || outer === undefined) return false;
  return isNamed(parent.callee, 'Date') && nodesIn(parent.arguments).length === 0;
}

function isNamed(node: unknown, name: string): boolean {
  if (!isNode(node)) return false;
  return node.name === name || (isMember(node) && memberName(node) === name);
}

function backDoor(node: Node, parent: Node | undefined): string | null {
  if (node.type !== 'Identifier' || typeof node.name !== 'string' || !BACK_DOORS.has(node.name)) return null;
  if (parent !== undefined && isKey(parent, node)) return null;
  const isMemberOf = parent !== undefined && isMember(parent) && parent.property === node;
  return isMemberOf && node.name !== 'getBuiltinModule' ? null : node.name;
}

function variablesOf(statement: Node): Node[] {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  if (declaration.type !== 'VariableDeclaration') return [];
  return nodesIn(declaration.declarations).map(each => ({ ...each, kind: declaration.kind }));
}

/** Returns whether a variable is a `let`, a `var`, or a constant that starts as an empty collection. */
function changes({ kind, id, init }: Node): boolean {
  if (kind !== 'const') return true;
  if (!isNode(init) || isReadonly(id)) return false;
  const parts = { ArrayExpression: init.elements, ObjectExpression: init.properties }[init.type];
  if (parts !== undefined) return nodesIn(parts).length === 0;
  const { callee } = init;
  const isCollection =
    init.type === 'NewExpression' && isNode(callee) && /^(Weak)?(Map|Set)$/.test(String(callee.name));
  return isCollection && nodesIn(init.arguments).length === 0;
}

function isReadonly(id: unknown): boolean {
  const annotation = isNode(id) ? id.typeAnnotation : null;
  const type = isNode(annotation) ? annotation.typeAnnotation : null;
  if (!isNode(type)) return false;
  const { typeName } = type;
  return type.operator === 'readonly' || (isNode(typeName) && /^readonly/i.test(String(typeName.name)));
}
