/** Cuts TypeScript text into tokens, so that words in comments, strings and patterns are never taken for code. */

export interface Token {
  readonly kind: 'word' | 'string' | 'pattern' | 'number' | 'mark';
  readonly text: string;
  readonly line: number;
  /** How many brackets of any kind are open around the token. */
  readonly depth: number;
}

const WORD = /[\p{ID_Start}_$#@][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /\d[\w.]*/y;
const BLANK = /\s+/y;
const MARK = /\?\.|=>|[^\s]/uy;
/** After these a slash begins a pattern; after any other word it divides. */
const BEFORE_PATTERN = new Set(
  'return typeof case in of delete void throw new await yield else do instanceof extends'.split(' '),
);

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open bracket: true where it is the `${` of a template. */
  const open: boolean[] = [];
  let at = 0;
  let line = 1;

  const push = (kind: Token['kind'], text: string): void => {
    tokens.push({ kind, text, line, depth: open.length });
  };
  const advance = (end: number): void => {
    for (let i = at; i < end; i += 1) if (source[i] === '\n') line += 1;
    at = end;
  };
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] ?? null;
  };
  const endOfTemplatePart = (from: number): number => {
    for (let i = from; i < source.length; i += 1) {
      if (source[i] === '\\') i += 1;
      else if (source[i] === '`' || source.startsWith('${', i)) return i;
    }
    throw unreadable(line, 'a template that never ends');
  };
  const template = (from: number): void => {
    const end = endOfTemplatePart(from);
    push('string', source.slice(from, end));
    const goesOn = source[end] === '$';
    advance(end + (goesOn ? 2 : 1));
    if (!goesOn) return;
    push('mark', '${');
    open.push(true);
  };

  advance(source.startsWith('#!') ? endOfLine(source, 0) : 0);
  while (at < source.length) {
    const blank = match(BLANK);
    if (blank !== null) {
      advance(at + blank.length);
      continue;
    }
    if (source.startsWith('//', at)) {
      advance(endOfLine(source, at));
      continue;
    }
    if (source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2);
      if (end < 0) throw unreadable(line, 'a comment that never ends');
      advance(end + 2);
      continue;
    }
    const char = source[at] ?? '';
    if (char === '"' || char === "'") {
      const end = endOfQuoted(source, at, line);
      push('string', source.slice(at + 1, end));
      advance(end + 1);
      continue;
    }
    if (char === '`') {
      template(at + 1);
      continue;
    }
    if (char === '}' && open.at(-1) === true) {
      open.pop();
      push('mark', '}');
      template(at + 1);
      continue;
    }
    if (char === '/' && beginsPattern(tokens.at(-1))) {
      const end = endOfPattern(source, at, line);
      push('pattern', source.slice(at, end));
      advance(end);
      continue;
    }
    const word = match(WORD);
    const number = word === null ? match(NUMBER) : null;
    const text = word ?? number ?? match(MARK) ?? char;
    if (')]}'.includes(text)) open.pop();
    push(word !== null ? 'word' : number !== null ? 'number' : 'mark', text);
    if ('([{'.includes(text)) open.push(false);
    advance(at + text.length);
  }
  return tokens;
}

function beginsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return BEFORE_PATTERN.has(before.text);
  return before.kind === 'mark' && !')]}'.includes(before.text);
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end < 0 ? source.length : end;
}

function endOfQuoted(source: string, from: number, line: number): number {
  for (let i = from + 1; i < source.length && source[i] !== '\n'; i += 1) {
    if (source[i] === '\\') i += 1;
    else if (source[i] === source[from]) return i;
  }
  throw unreadable(line, 'a string that does not end on its line');
}

function endOfPattern(source: string, from: number, line: number): number {
  let inClass = false;
  for (let i = from + 1; i < source.length && source[i] !== '\n'; i += 1) {
    if (source[i] === '\\') i += 1;
    else if (source[i] === '[') inClass = true;
    else if (source[i] === ']') inClass = false;
    else if (source[i] === '/' && !inClass) return i + 1;
  }
  throw unreadable(line, 'a pattern that does not end on its line');
}

function unreadable(line: number, what: string): SyntaxError {
  return new SyntaxError(`line ${line}: ${what}`);
}
