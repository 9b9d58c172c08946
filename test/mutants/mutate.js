import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

/**
 * A place where a file can be broken, and the text that would stand there then.
 * @typedef {{ file: string, start: number, end: number, now: string, line: number, key: string }} Place
 * @typedef {Place & { number: number }} Mutant
 * @typedef {{ start: number, end: number }} Span
 */
/**
 * What is read of a node of the syntax tree, whatever its type.
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
 * }} Node
 */

/** In pairs: each stands for its neighbour. */
const SWAPPED = '< <= > >= === !== + - * / && || += -= some every min max startsWith endsWith'.split(' ');
const DROPPED = ['filter', 'toSorted', 'sort', 'toReversed', 'reverse', 'trim', 'toLowerCase'];

/**
 * The text of a file with its mutants compiled in: each place asks whether the mutant of that number lives.
 * @param {string} file
 * @param {readonly Mutant[]} mutants
 */
export function withMutants(file, mutants) {
  const letters = readFileSync(file, 'utf8').split('');
  const here = mutants.filter(one => one.file === file).toReversed();
  for (const { start, end, number, now } of here) {
    letters[start] = `(__mutant(${number}) ? (${now}) : (${letters[start]}`;
    letters[end - 1] += '))';
  }
  return letters.join('');
}

/**
 * @param {string} file
 * @returns {Place[]}
 */
export function findMutants(file) {
  const text = readFileSync(file, 'utf8');
  /** @type {Place[]} */
  const found = [];
  /** @param {Span} span */
  const textOf = ({ start, end }) => text.slice(start, end);
  /** @type {unknown} */
  const program = parseAst(text, { lang: 'ts' });
  if (isNode(program)) visit(program);
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
  /**
   * @param {Span} node
   * @param {string} now
   */
  function instead({ start, end }, now) {
    const lines = text.slice(0, start).split('\n');
    const [behind = ''] = text.slice(end).split('\n', 1);
    /** @param {string} part */
    const lineWith = part => (lines.at(-1) + part + behind).replace(/\s+/g, ' ').trim();
    const key = `${file}: ${lineWith(text.slice(start, end))} -> ${lineWith(now)}`;
    found.push({ file, start, end, now, line: lines.length, key });
  }
  /**
   * @param {Span} node
   * @param {Span} left
   * @param {string} was
   * @param {string} now
   */
  function swap(node, left, was, now) {
    const at = text.indexOf(was, left.end);
    instead(node, text.slice(node.start, at) + now + text.slice(at + was.length, node.end));
  }

  /**
   * What stands behind a `?.` belongs to it: only the whole chain can be put into brackets.
   * @param {Node} node
   * @param {Node} [parent]
   * @param {Node | false} [chain]
   */
  function visit(node, parent, chain = node.type === 'ChainExpression' && node) {
    const { type, expression, computed, optional, property } = node;
    if (/^(TS|Import|ExportAll)/.test(type) && !expression) return;
    const before = node.object ?? node.callee;
    if (chain && optional && before) swap(chain, before, '?.', property && !computed ? '.' : '');
    if (!chain || !/Member|Call|Chain|NonNull/.test(type)) mutate(node, parent);
    for (const [key, value] of Object.entries(node))
      for (const child of /^(key|source|tag)$/.test(key) && !computed ? [] : [value].flat())
        if (isNode(child))
          visit(child, node, (/^(object|callee|expression)$/.test(key) && chain) || undefined);
  }

  /**
   * Sentences are for people; what is compared with something is mutated there.
   * @param {Node} node
   * @param {Node} [parent]
   */
  function mutate(node, parent) {
    const { type, operator, test, left, expression, argument, callee, value, regex } = node;
    const word = operator ?? callee?.property?.name ?? '';
    const owner = callee?.object;
    const swapped = SWAPPED[SWAPPED.indexOf(word) ^ 1];
    if (left && word === '??') instead(node, textOf(left));
    if (left && swapped) swap(node, left, word, swapped);
    if (owner && swapped) swap(node, owner, word, swapped);
    if (owner && DROPPED.includes(word)) instead(node, textOf(owner));
    if (argument && type === 'UnaryExpression' && '!-'.includes(word)) instead(node, textOf(argument));
    if (expression && type === 'ExpressionStatement' && expression.callee?.type !== 'Super')
      instead(expression, 'void 0');
    if (typeof value === 'boolean') instead(node, String(!value));
    if (typeof value === 'number') instead(node, value > 10 ? '0' : String(value + 1));
    if (typeof value === 'string' && !/\s/.test(value) && !/^[!=]==$/.test(parent?.operator ?? ''))
      instead(node, value === '' ? "'mutated'" : "''");
    if (regex?.pattern.startsWith('^')) instead(node, `/${regex.pattern.slice(1)}/${regex.flags}`);
    if (regex?.pattern.endsWith('$')) instead(node, `/${regex.pattern.slice(0, -1)}/${regex.flags}`);
    if (!test || !/^(If|While|Conditional)/.test(type)) return;
    const last = [node.consequent?.body ?? node.consequent].flat().at(-1);
    if (/^(Return|Throw|Continue|Break)/.test(last?.type ?? '') && !node.alternate) instead(test, 'false');
    else if (!/^(Binary|Logical|Unary)/.test(test.type)) instead(test, `!(${textOf(test)})`);
  }
}

/**
 * @param {unknown} value
 * @returns {value is Node}
 */
function isNode(value) {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
