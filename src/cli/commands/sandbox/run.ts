import { readFileSync } from 'node:fs';
import { isObject } from '../../../registry/model.js';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { command, type Command, type CommandGroup } from '../../command.js';
import type { Context } from '../../context.js';
import { CommandFault, EXIT } from '../../exit.js';
import type { Cell, Row as Shown } from '../../output/output.js';
import { build, flatten, valueAt } from '../../paths.js';
import { sheet } from '../../output/sheet.js';
import { snakePath } from '../../snake-case.js';
import { flag, optionName, text } from '../../taken.js';
import { readDuration, readId } from '../../words.js';
import { printAppEnv } from './app-env.js';
import { reachSandbox } from './client.js';
import { itemsOf, NAMES, readName } from './names.js';
import { type Kind, type Row, ROWS, type Thing, THINGS } from './table.js';

type Given = Readonly<Record<string, unknown>>;

const AT = text(
  'url',
  'where the sandbox is (default: REGISTRY_BASE_URL, else SANDBOX_PORT of this machine)',
);
const ENV = flag('print the settings of a program that is this app, ready for a file .env');

/** A group for each thing, beside the commands of the sandbox itself. */
export function commandsOf(): CommandGroup['commands'] {
  const groups = Object.entries(THINGS).map(([thing, { says }]) => {
    const rows = ROWS.filter(({ of }) => of === thing);
    const examples = rows.flatMap(row => Object.keys(row.says).map(verb => exampleOf(row, verb)));
    return [thing, { says, examples, commands: commandsIn(rows) }] as const;
  });
  return { ...commandsIn(ROWS.filter(({ of }) => of === 'sandbox')), ...Object.fromEntries(groups) };
}

function commandsIn(rows: readonly Row[]): Readonly<Record<string, Command>> {
  return Object.fromEntries(
    rows.flatMap(row => Object.entries(row.says).map(([verb, says]) => [verb, commandOf(row, verb, says)])),
  );
}

function commandOf(row: Row, verb: string, says: string): Command {
  const { word, options = {}, makesApp = false } = row;
  return command({
    says,
    words: { ...(word && { word }) },
    options: { ...options, ...(makesApp && { env: ENV }), url: AT },
    prints: { json: 'print the answer as JSON' },
    examples: [exampleOf(row, verb)],
    run: async (context, typed: Given & { readonly url: string | undefined }) => {
      const reached = reachSandbox(context, typed.url);
      const given = await place(row, typed, reached.control);
      const send = (all: Given) => ask(reached.control, row, verb, all);
      if (typed['env'] === true) await printAppEnv(context, reached, given, send);
      else await show(context, row, verb, await send(given));
    },
  });
}

function exampleOf({ of, word, example = word && 'ID' }: Row, verb: string): string {
  const path = of === 'sandbox' ? `sandbox ${verb}` : `sandbox ${of} ${verb}`;
  return `carbon-mirror ${path}${example === undefined ? '' : ` ${example}`}`;
}

/** What was said at its place, with an id for what was named. */
async function place({ word, options }: Row, typed: Given, control: ControlClient): Promise<Given> {
  const given: Record<string, unknown> = {};
  const fields = { ...(word && { word: { into: 'id', ...word } }), ...options };
  for (const [name, { kind, shows, into = name }] of Object.entries(fields)) {
    const flags = name === 'word' ? `<${shows}>` : `${optionName(name)} <${shows}>`;
    const read = (each: unknown) => READERS[kind](flags, String(each), control);
    const value = typed[name];
    if (Array.isArray(value) && value.length > 0) given[into] = value.map(read);
    else if (typeof value === 'string') given[into] = await read(value);
  }
  return given;
}

async function ask(control: ControlClient, row: Row, verb: string, given: Given): Promise<unknown> {
  const [method = '', route = ''] = routeOf(row, verb).split(' ');
  const left: Record<string, unknown> = { ...given };
  const path = route.replace(/:(\w+)/g, (_whole, name: string) => {
    const { [name]: typed } = left;
    delete left[name];
    return readId(name, String(typed));
  });
  if (method !== 'GET' && method !== 'DELETE')
    return await control(method, path, build({ ...left, ...row.sends?.[verb] }));
  const query = new URLSearchParams(
    Object.entries(left).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return await control(method, query.size === 0 ? path : `${path}?${query.toString()}`);
}

function routeOf({ of, route }: Row, verb: string): string {
  const usual = verb === 'list' ? `GET /${of}` : `POST /${of}/:id/:verb`;
  return (route ?? usual).replace(':verb', verb);
}

function shownOf({ columns = '' }: Thing): string {
  return columns;
}

async function show(context: Context, row: Row, verb: string, answer: unknown): Promise<void> {
  const { of, columns = of === 'sandbox' ? '' : shownOf(THINGS[of]), next } = row;
  const names = columns.split(' ').filter(name => name !== '');
  const list = verb === 'list' ? itemsOf(answer, of) : null;
  if (context.format === 'json') return await context.value(list ?? answer);
  if (list !== null)
    await context.rows(
      names.map(snakePath),
      list.map(item => toRow(item, names)),
    );
  else if (!isObject(answer) || Object.keys(answer).length === 0) context.say('Done.');
  else {
    const shown = names.length > 0 ? names : Object.keys(flatten(answer));
    await context.print(...sheet(toRow(answer, shown)).slice(0, -1));
  }
  if (next?.[verb] !== undefined) context.say(...fillWords(next[verb], answer).split('\n'));
}

/** `{id}` becomes a value of the answer, `{id|none}` the words for none. */
function fillWords(words: string, answer: unknown): string {
  return words.replace(/\{(\w+)(?:\|([^}]*))?\}/g, (_whole, name: string, none = '') =>
    String(valueAt(answer, name) ?? none),
  );
}

function toRow(item: unknown, columns: readonly string[]): Shown {
  const shown = columns.filter(name => valueAt(item, name) !== undefined);
  return Object.fromEntries(shown.map(name => [snakePath(name), toCell(valueAt(item, name))]));
}

/** Permissions and attempts are read by people; anything else that is no text or number is shown as JSON. */
function toCell(value: unknown): Cell {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map(each => String(toCell(each))).join(', ');
  if (!isObject(value)) return null;
  if ('startedAt' in value) return String(value['status'] ?? value['error']);
  return Object.entries(value)
    .map(([name, inner]) => `${name} ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`)
    .join(', ');
}

type Reader = (name: string, typed: string, control: ControlClient) => unknown;

const asText: Reader = (_name, typed) => typed;

function asId(what: keyof typeof NAMES): Reader {
  return (_name, typed, control) => readName(control, what, typed);
}

const READERS: Readonly<Record<Kind, Reader>> = {
  text: asText,
  number: readNumber,
  time: readDuration,
  'time back': (name, typed) => -readDuration(name, typed),
  'yes or no': readYesOrNo,
  file: readText,
  json: readJson,
  app: asId('app'),
  organization: asId('organization'),
  project: asId('project'),
  installation: asId('installation'),
};

function readNumber(name: string, typed: string): number {
  if (/^-?\d+(\.\d+)?$/.test(typed)) return Number(typed);
  throw unusable(name, 'a number', typed);
}

function readYesOrNo(name: string, typed: string): boolean {
  if (/^(yes|no|true|false)$/.test(typed)) return typed === 'yes' || typed === 'true';
  throw unusable(name, 'yes or no', typed);
}

function readText(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new CommandFault(EXIT.usage, `${name}: ${file} cannot be read${code}.`);
  }
}

function readJson(name: string, typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    throw unusable(name, 'JSON', typed);
  }
}

function unusable(name: string, expected: string, typed: string): CommandFault {
  return new CommandFault(EXIT.usage, `${name}: expected ${expected}, got "${typed}".`);
}
