import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

/** In pairs: each stands for its neighbour. */
const SWAPPED = '< <= > >= === !== + - * / && || += -= some every min max startsWith endsWith'.split(' ');
const DROPPED = ['filter', 'toSorted', 'sort', 'toReversed', 'reverse', 'trim', 'toLowerCase'];

/** The text of a file with its mutants compiled in: each place asks whether the mutant of that number lives. */
export function withMutants(file, mutants) {
  const letters = readFileSync(file, 'utf8').split('');
  const here = mutants.filter(one => one.file === file).toReversed();
  for (const { start, end, number, now } of here) {
    letters[start] = `(__mutant(${number}) ? (${now}) : (${letters[start]}`;
    letters[end - 1] += '))';
  }
  return letters.join('');
}

export function findMutants(file) {
  const text = readFileSync(file, 'utf8');
  const found = [];
  const textOf = ({ start, end }) => text.slice(start, end);
  visit(parseAst(text, { lang: 'ts' }));
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
  function instead({ start, end }, now) {
    const lines = text.slice(0, start).split('\n');
    const [behind] = text.slice(end).split('\n', 1);
    const lineWith = part => (lines.at(-1) + part + behind).replace(/\s+/g, ' ').trim();
    const key = `${file}: ${lineWith(text.slice(start, end))} -> ${lineWith(now)}`;
    found.push({ file, start, end, now, line: lines.length, key });
  }
  function swap(node, left, was, now) {
    const at = text.indexOf(was, left.end);
    instead(node, text.slice(node.start, at) + now + text.slice(at + was.length, node.end));
  }

  /** What stands behind a `?.` belongs to it: only the whole chain can be put into brackets. */
  function visit(node, parent, chain = node.type === 'ChainExpression' && node) {
    const { type, expression, computed, optional, property } = node;
    if (/^(TS|Import|ExportAll)/.test(type) && !expression) return;
    if (chain && optional) swap(chain, node.object ?? node.callee, '?.', property && !computed ? '.' : '');
    if (!chain || !/Member|Call|Chain|NonNull/.test(type)) mutate(node, parent);
    for (const [key, value] of Object.entries(node))
      for (const child of /^(key|source|tag)$/.test(key) && !computed ? [] : [value].flat())
        if (typeof child?.type === 'string')
          visit(child, node, (/^(object|callee|expression)$/.test(key) && chain) || undefined);
  }

  /** Sentences are for people; what is compared with something is mutated there. */
  function mutate(node, parent) {
    const { type, operator, test, left, expression, callee, value, regex } = node;
    const word = operator ?? callee?.property?.name;
    const swapped = SWAPPED[SWAPPED.indexOf(word) ^ 1];
    if (word === '??') instead(node, textOf(left));
    if (left && swapped) swap(node, left, word, swapped);
    if (callee && swapped) swap(node, callee.object, word, swapped);
    if (callee && DROPPED.includes(word)) instead(node, textOf(callee.object));
    if (type === 'UnaryExpression' && '!-'.includes(word)) instead(node, textOf(node.argument));
    if (type === 'ExpressionStatement' && expression.callee?.type !== 'Super') instead(expression, 'void 0');
    if (typeof value === 'boolean') instead(node, String(!value));
    if (typeof value === 'number') instead(node, value > 10 ? '0' : String(value + 1));
    if (typeof value === 'string' && !/\s/.test(value) && !/^[!=]==$/.test(parent?.operator))
      instead(node, value === '' ? "'mutated'" : "''");
    if (regex?.pattern.startsWith('^')) instead(node, `/${regex.pattern.slice(1)}/${regex.flags}`);
    if (regex?.pattern.endsWith('$')) instead(node, `/${regex.pattern.slice(0, -1)}/${regex.flags}`);
    if (!/^(If|While|Conditional)/.test(type)) return;
    const last = [node.consequent?.body ?? node.consequent].flat().at(-1);
    if (/^(Return|Throw|Continue|Break)/.test(last?.type) && !node.alternate) instead(test, 'false');
    else if (!/^(Binary|Logical|Unary)/.test(test.type)) instead(test, `!(${textOf(test)})`);
  }
}
