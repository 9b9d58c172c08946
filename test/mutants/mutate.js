import { parseAst } from 'rolldown/parseAst';

/** In pairs: each stands for its neighbour. */
const SWAPPED = '< <= > >= === !== + - * / && || += -= some every min max startsWith endsWith'.split(' ');
const DROPPED = ['filter', 'toSorted', 'sort', 'toReversed', 'reverse', 'trim', 'toLowerCase'];

/** All mutants of a file, numbered from `first` on, compiled into one text: at each place `__mutant(n)` says whether that one lives. */
export function mutate(text, first) {
  const found = [];
  const textOf = ({ start, end }) => text.slice(start, end);
  const instead = ({ start, end }, now, isStatement = false) => found.push({ start, end, now, isStatement });
  const swap = (node, left, was, now) => {
    const at = text.indexOf(was, left.end);
    instead(node, text.slice(node.start, at) + now + text.slice(at + was.length, node.end));
  };
  visit(parseAst(text, { lang: 'ts' }), null);
  const mutants = found
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .map((mutant, index) => ({ ...mutant, ...linesOf(mutant), number: first + index }));
  return { mutants, code: render(0, text.length, mutants) };

  function linesOf({ start, end, now }) {
    const before = text.slice(text.lastIndexOf('\n', start) + 1, start);
    const behind = text.slice(end).split('\n', 1)[0];
    const lines = [text.slice(start, end), now].map(part =>
      (before + part + behind).replace(/\s+/g, ' ').trim(),
    );
    return { line: text.slice(0, start).split('\n').length, original: lines[0], mutated: lines[1] };
  }

  function render(start, end, [mutant, ...others]) {
    if (mutant === undefined) return text.slice(start, end);
    const { start: from, end: to, isStatement } = mutant;
    const same = [mutant, ...others.filter(other => other.start === from && other.end === to)];
    const within = others.filter(other => !same.includes(other) && other.start < to);
    const behind = others.filter(other => other.start >= to);
    const choice = same.map(({ number, now }) => `__mutant(${number}) ? (${now}) : `).join('');
    const [open, close] = isStatement ? [`{ if (!__mutant(${mutant.number})) `, ' }'] : [`(${choice}(`, '))'];
    return text.slice(start, from) + open + render(from, to, within) + close + render(to, end, behind);
  }

  function visit(node, parent) {
    const { type, expression } = node;
    if (type === 'ChainExpression') visitChain(node, expression);
    else if (type === 'TaggedTemplateExpression') visit(node.quasi, node);
    else if (type.startsWith('TS') && expression) visit(expression, node);
    else if (!/^(TS|Import|ExportAll)/.test(type)) visitWhole(node, parent);
  }

  function visitWhole(node, parent) {
    if (node.type === 'Literal') mutateLiteral(node, parent);
    else mutateNode(node);
    for (const [key, value] of Object.entries(node))
      for (const child of /^(key|source)$/.test(key) && !node.computed ? [] : [value].flat())
        if (typeof child?.type === 'string') visit(child, node);
  }

  /** What stands behind a `?.` belongs to it: only the whole can be put into brackets. */
  function visitChain(chain, node) {
    const before = node.object ?? node.callee ?? (node.type.startsWith('TS') ? node.expression : undefined);
    if (node.optional) swap(chain, before, '?.', node.property && !node.computed ? '.' : '');
    if (before) visitChain(chain, before);
    else visit(node, chain);
    for (const given of [...(node.arguments ?? []), ...(node.computed ? [node.property] : [])])
      visit(given, node);
  }

  function mutateNode(node) {
    const { type, operator, test, left, right, expression, callee } = node;
    const word = operator ?? callee?.property?.name;
    const swapped = SWAPPED[SWAPPED.indexOf(word) ^ 1];
    const isText = [left, right].some(
      side => side?.type === 'TemplateLiteral' || typeof side?.value === 'string',
    );
    if (word === '??') instead(node, textOf(left));
    if (left && swapped && !(isText && word.startsWith('+'))) swap(node, left, word, swapped);
    if (callee && swapped) swap(node, callee.object, word, swapped);
    if (callee && DROPPED.includes(word)) instead(node, textOf(callee.object));
    if (type === 'UnaryExpression' && '!-'.includes(word)) instead(node, textOf(node.argument));
    if (type === 'ExpressionStatement' && expression.callee?.type !== 'Super') instead(node, '', true);
    if (!/^(If|While|Conditional)/.test(type)) return;
    const last = node.consequent?.body?.at(-1) ?? node.consequent;
    if (/^(Return|Throw|Continue|Break)/.test(last?.type) && !node.alternate) instead(test, 'false');
    else if (!/^(Binary|Logical|Unary)/.test(test.type)) instead(test, `!(${textOf(test)})`);
  }

  /** Sentences are for people; what is compared with something is mutated there. */
  function mutateLiteral(node, parent) {
    const { value, regex } = node;
    if (typeof value === 'boolean') instead(node, String(!value));
    if (typeof value === 'number') instead(node, value > 10 ? '0' : String(value + 1));
    if (typeof value === 'string' && !/\s/.test(value) && !/^[!=]==$/.test(parent?.operator ?? ''))
      instead(node, value === '' ? "'mutated'" : "''");
    if (regex?.pattern.startsWith('^')) instead(node, `/${regex.pattern.slice(1)}/${regex.flags}`);
    if (regex?.pattern.endsWith('$')) instead(node, `/${regex.pattern.slice(0, -1)}/${regex.flags}`);
  }
}
