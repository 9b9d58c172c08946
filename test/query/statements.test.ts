import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TABLES } from '../../src/store/contract/tables.js';

const ROOM = join(import.meta.dirname, '../../src/query');
const SOURCES = readdirSync(ROOM, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => readFileSync(join(ROOM, file), 'utf8'));
const ROOM_AT_ONCE = SOURCES.join('\n');

/** Each of a source, and the type of what it is said to answer: its text ends where its own backtick does, and not where one between braces does. */
function statementsIn(source: string) {
  return [...source.matchAll(/sql<((?:[^`()]|\([^`]*?\))*?)>`/g)].map(({ 0: begin, 1: type = '', index }) => {
    let at = index + begin.length;
    for (let depth = 0; depth > 0 || source[at] !== '`'; at += 1) {
      if (source.startsWith('${', at)) depth += 1;
      else if (source[at] === '}') depth -= 1;
    }
    return { type, text: source.slice(index + begin.length, at) };
  });
}

function quotedIn(text: string): string[] {
  return [...text.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}

/** The names that a type has, as it is written in a source. */
function namesOf(type: string, source: string): string[] {
  const names: string[] = [];
  const take = (pattern: RegExp, found: (...parts: string[]) => readonly string[]) => (text: string) =>
    text.replaceAll(pattern, (_, ...parts: string[]) => {
      names.push(...found(...parts));
      return '';
    });
  const rest = [
    take(/(?:Pick|Record)<(?:[^,]*,)?((?:\s*\|?\s*'\w+')+),?[^>]*>/g, (wanted = '') => quotedIn(wanted)),
    take(/Omit<(\w+|Tables\['[\w.]+'\]),([^>]*)>/g, (of = '', without = '') =>
      namesOf(of, source).filter(name => !quotedIn(without).includes(name)),
    ),
    take(/Tables\['([\w.]+)'\](?!\[)/g, (table = '') => Object.keys(TABLES[table] ?? {})),
    take(/(?:^|[{;\s])(?:readonly )?(\w+)\??:/g, (name = '') => [name]),
  ].reduce((text, taken) => taken(text), type);
  for (const [name] of rest.matchAll(/\b[A-Z]\w+/g)) names.push(...namesOf(declared(name, source), source));
  return names;
}

/** There or else somewhere in the room, without its comments; '' where neither declares such a thing. */
function declared(name: string, source: string): string {
  const patterns = [`interface ${name}\\b([^{]*\\{[^}]*\\})`, `type ${name} =([^;]*);`].map(
    each => new RegExp(each),
  );
  const [found] = [source, ROOM_AT_ONCE].flatMap(text =>
    patterns.flatMap(each => each.exec(text)?.[1] ?? []),
  );
  return (found ?? '').replaceAll(/\/\*\*.*?\*\//gs, '');
}

/** With what stands elsewhere and is put into it. */
function whole(text: string): string {
  return text.replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
    const found = new RegExp(`const ${name} =([^;]*);`).exec(ROOM_AT_ONCE);
    return found === null ? `\${${name}}` : whole(found[1] ?? '');
  });
}

/** Or which columns it answers is known only as it runs. */
const ANSWERS_ALL = /SELECT (?:\*|\$\{names\})|\b\w\.\*/;

test('every column in the row type of a statement is in its text', () => {
  const told = SOURCES.flatMap(source =>
    statementsIn(source).map(({ type, text }) => ({ names: namesOf(type, source), text: whole(text) })),
  ).filter(({ names }) => names.length > 0);
  expect(told.length).toBeGreaterThan(25);
  const faults = told
    .filter(({ text }) => !ANSWERS_ALL.test(text))
    .flatMap(({ names, text }) =>
      names.filter(name => !new RegExp(`\\b${name}\\b`).test(text)).map(name => `${name}: ${text}`),
    );
  expect(faults).toEqual([]);
});
