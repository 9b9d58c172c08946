// Finds the places where a file of src can be changed by one small mistake, and compiles all these mutants into the file.
import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

/**
 * A change of one expression. `key` identifies it in known.json: the line before and after the change.
 * @typedef {{ file: string, start: number, end: number, replacement: string, line: number, key: string }} Place
 * @typedef {Place & { number: number }} Mutant
 * @typedef {{ start: number, end: number }} Span
 */
/**
 * A node of the syntax tree, of any type, with the properties that are read here.
 * @typedef {Span & {
 *   type: string,
 *   name?: string,
 *   operator?: string,
 *   value?: unknown,
 *   computed?: boolean,
 *   optional?: boolean,
 *   regex?: { pattern: string, flags: string },
 *   object?: Node,
 *   property?: Node,
 *   callee?: Node,
 *   expression?: Node,
 *   argument?: Node,
 *   left?: Node,
 *   test?: Node,
 *   consequent?: Node,
 *   alternate?: Node,
 *   body?: Node | Node[],
 *   tag?: Node,
 *   quasi?: Node,
 *   expressions?: Node[],
 * }} Node
 */

/** Operators and methods in pairs: each is replaced by its neighbour. The second line is of the SQL builder. */
const SWAPPED = [
  '< <= > >= === !== + - * / && || += -= some every min max startsWith endsWith',
  'and or leftJoin innerJoin union unionAll nullsFirst nullsLast asc desc',
].flatMap(line => line.split(' '));
/** Methods whose call is removed. The second line is of the SQL builder. */
const DROPPED = [
  'filter toSorted sort toReversed reverse trim toLowerCase',
  'where whereRef having limit orderBy distinct',
].flatMap(line => line.split(' '));
/** String literals that are operators of the SQL builder, in pairs. */
const SWAPPED_LITERALS = ['<', '<=', '>', '>=', '=', '<>', 'is', 'is not', 'in', 'not in', 'asc', 'desc'];
const SQL_TAGS = ['sql', 'sqlStatement'];
/** Text of a SQL template, and its replacement. `nullif` keeps a null that `coalesce` would replace. */
const SQL_REPLACEMENTS = new Map(
  Object.entries({
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '=': '<>',
    '<>': '=',
    ' + ': ' - ',
    ' - ': ' + ',
    AND: 'OR',
    OR: 'AND',
    ASC: 'DESC',
    DESC: 'ASC',
    IN: 'NOT IN',
    'NOT IN': 'IN',
    EXISTS: 'NOT EXISTS',
    'NOT EXISTS': 'EXISTS',
    'IS NULL': 'IS NOT NULL',
    'IS NOT NULL': 'IS NULL',
    'IS DISTINCT FROM': 'IS NOT DISTINCT FROM',
    'IS NOT DISTINCT FROM': 'IS DISTINCT FROM',
    'NULLS FIRST': 'NULLS LAST',
    'NULLS LAST': 'NULLS FIRST',
    'SELECT DISTINCT': 'SELECT',
    'LEFT JOIN': 'JOIN',
    'UNION ALL': 'UNION',
    LIMIT: 'LIMIT 1 +',
    'min(': 'max(',
    'max(': 'min(',
    'coalesce(': 'nullif(',
  }),
);
const SQL_WORDS = [...SQL_REPLACEMENTS.keys()]
  .filter(word => /[A-Za-z]/.test(word))
  .toSorted((a, b) => b.length - a.length)
  .map(word => `(?<![\\w.])${word.replace('(', '\\(')}${word.endsWith('(') ? '' : '\\b'}`);
const SQL_OPERATORS = String.raw`(?<![<>=!|:\-#@])(?:<=|>=|<>|[<>=])(?![<>=|@#])| [+-] `;
/** An equals sign after SET or a comma assigns a column. The AND of BETWEEN is no condition. */
const NOT_MUTATED = String.raw`'[^']*'|"[^"]*"|--.*|\bBETWEEN\b[^]*?\bAND\b|(?:\bSET|,)\s+[\w.]+\s=`;
const SQL = new RegExp(`${NOT_MUTATED}|${SQL_WORDS.join('|')}|${SQL_OPERATORS}`, 'g');

/**
 * Returns the text of a file with its mutants compiled in. Each place checks at run time whether the mutant of its number is active.
 * @param {string} file
 * @param {readonly Mutant[]} mutants
 */
export function compileMutants(file, mutants) {
  const letters = readFileSync(file, 'utf8').split('');
  const ofFile = mutants.filter(mutant => mutant.file === file).toReversed();
  for (const { start, end, number, replacement } of ofFile) {
    letters[start] = `(__mutant(${number}) ? (${replacement}) : (${letters[start]}`;
    letters[end - 1] += '))';
  }
  return letters.join('');
}

/**
 * Returns the text of a file in which the runner can clear caches of compiled statements. A cached statement would hide the mutants in it.
 * @param {string} text
 */
export function clearCachesWithMutants(text) {
  return text.replaceAll(/const cache = (new Map<\w+, T>\(\));/g, 'const cache = __clearWithMutants($1);');
}

/**
 * Returns all places of a file that can be mutated, in the order of the text.
 * @param {string} file
 * @returns {Place[]}
 */
export function findPlaces(file) {
  const text = readFileSync(file, 'utf8');
  /** @type {Place[]} */
  const places = [];
  /** @param {Span} span */
  const textOf = ({ start, end }) => text.slice(start, end);
  /** @type {unknown} */
  const program = parseAst(text, { lang: 'ts' });
  if (isNode(program)) visit(program);
  return places.toSorted((a, b) => a.start - b.start || b.end - a.end);

  /**
   * Adds a mutant that replaces a node.
   * @param {Span} node
   * @param {string} replacement
   * @param {Span} [changed] the part of the node that differs: the key shows its line
   * @param {string} [changedTo]
   */
  function replace({ start, end }, replacement, changed = { start, end }, changedTo = replacement) {
    const lines = text.slice(0, changed.start).split('\n');
    const [restOfLine = ''] = text.slice(changed.end).split('\n', 1);
    /** @param {string} part */
    const lineWith = part => (lines.at(-1) + part + restOfLine).replace(/\s+/g, ' ').trim();
    const key = `${file}: ${lineWith(textOf(changed))} -> ${lineWith(changedTo)}`;
    places.push({ file, start, end, replacement, line: lines.length, key });
  }

  /**
   * Adds a mutant in which the first `from` after `left` is replaced.
   * @param {Span} node
   * @param {Span} left
   * @param {string} from
   * @param {string} to
   */
  function swap(node, left, from, to) {
    const start = text.indexOf(from, left.end);
    replace(node, text.slice(node.start, start) + to + text.slice(start + from.length, node.end));
  }

  /**
   * Visits a node and its children. Only a complete optional chain can be put into brackets, so the parts of one are not mutated alone.
   * @param {Node} node
   * @param {Node} [parent]
   * @param {Node | false} [chain]
   */
  function visit(node, parent, chain = node.type === 'ChainExpression' && node) {
    const { type, expression, computed, optional, property } = node;
    if (/^(TS|Import|ExportAll)/.test(type) && !expression) return;
    const owner = node.object ?? node.callee;
    if (chain && optional && owner) swap(chain, owner, '?.', property && !computed ? '.' : '');
    if (!chain || !/Member|Call|Chain|NonNull/.test(type)) mutate(node, parent);
    for (const [key, value] of Object.entries(node))
      for (const child of /^(key|source|tag)$/.test(key) && !computed ? [] : [value].flat())
        if (isNode(child))
          visit(child, node, (/^(object|callee|expression)$/.test(key) && chain) || undefined);
  }

  /**
   * Adds the mutants of one node. Strings with spaces are sentences for people, and literals that are compared are mutated by their operator.
   * @param {Node} node
   * @param {Node} [parent]
   */
  function mutate(node, parent) {
    const { type, operator, test, left, expression, argument, callee, value, regex, tag, quasi } = node;
    const word = operator ?? callee?.property?.name ?? '';
    const owner = callee?.object;
    const swapped = SWAPPED[SWAPPED.indexOf(word) ^ 1];
    if (left && word === '??') replace(node, textOf(left));
    if (left && swapped) swap(node, left, word, swapped);
    if (owner && swapped) swap(node, owner, word, swapped);
    if (owner && DROPPED.includes(word)) {
      const call = { start: text.indexOf('.', owner.end), end: node.end };
      replace(node, textOf(owner), call, '');
    }
    if (argument && type === 'UnaryExpression' && '!-'.includes(word)) replace(node, textOf(argument));
    if (expression && type === 'ExpressionStatement' && expression.callee?.type !== 'Super')
      replace(expression, 'void 0');
    if (quasi && SQL_TAGS.includes(tag?.name ?? '')) mutateSql(node, quasi);
    if (typeof value === 'boolean') replace(node, String(!value));
    if (typeof value === 'number') replace(node, value > 10 ? '0' : String(value + 1));
    if (typeof value === 'string' && !/^[!=]==$/.test(parent?.operator ?? '')) mutateString(node, value);
    if (regex?.pattern.startsWith('^')) replace(node, `/${regex.pattern.slice(1)}/${regex.flags}`);
    if (regex?.pattern.endsWith('$')) replace(node, `/${regex.pattern.slice(0, -1)}/${regex.flags}`);
    if (!test || !/^(If|While|Conditional)/.test(type)) return;
    const last = [node.consequent?.body ?? node.consequent].flat().at(-1);
    if (/^(Return|Throw|Continue|Break)/.test(last?.type ?? '') && !node.alternate) replace(test, 'false');
    else if (!/^(Binary|Logical|Unary)/.test(test.type)) replace(test, `!(${textOf(test)})`);
  }

  /**
   * @param {Node} node
   * @param {string} value
   */
  function mutateString(node, value) {
    const operator = SWAPPED_LITERALS[SWAPPED_LITERALS.indexOf(value) ^ 1];
    if (operator !== undefined) replace(node, `'${operator}'`);
    else if (!/\s/.test(value)) replace(node, value === '' ? "'mutated'" : "''");
  }

  /**
   * Adds the mutants of a SQL template. Embedded expressions are nodes of their own, so they are masked here.
   * @param {Node} node
   * @param {Node} quasi
   */
  function mutateSql(node, quasi) {
    let masked = textOf(quasi);
    for (const { start, end } of quasi.expressions ?? []) {
      const [from, to] = [start - quasi.start - '${'.length, end - quasi.start + '}'.length];
      masked = masked.slice(0, from) + 'x'.repeat(to - from) + masked.slice(to);
    }
    for (const { 0: word, index } of masked.matchAll(SQL)) {
      const replacement = SQL_REPLACEMENTS.get(word);
      if (replacement === undefined) continue;
      const changed = { start: quasi.start + index, end: quasi.start + index + word.length };
      const mutated = text.slice(node.start, changed.start) + replacement + text.slice(changed.end, node.end);
      replace(node, mutated, changed, replacement);
    }
  }
}

/**
 * @param {unknown} value
 * @returns {value is Node}
 */
function isNode(value) {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
