/** How a word of the command line becomes a value of a call. The last four may be said by name. */
const KINDS = [
  'text',
  'texts',
  'number',
  'numbers',
  'yes or no',
  'duration',
  'file',
  'json',
  'app',
  'organization',
  'project',
  'installation',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Field {
  /** `<id>` makes an argument, `--name <text>` an option. */
  readonly flags: string;
  /** Its place in the route, as `:name`; else in the query or the body, where a dot leads into an object. */
  readonly into: string;
  readonly what: string;
  readonly kind?: Kind;
  readonly required?: boolean;
  /** The setting that speaks where the option does not. */
  readonly setting?: string;
}

/** One command, and the route of the control API that it stands for. */
export interface Verb {
  readonly command: string;
  readonly what: string;
  readonly route: string;
  readonly fields?: readonly Field[];
  readonly body?: (given: Readonly<Record<string, unknown>>) => object;
  /** Where the answer is a list: the member that it is sent in. */
  readonly list?: string;
  /** What is shown of the answer; all of it where nothing is named. */
  readonly columns?: readonly string[];
  readonly example: string;
  /** Whether it makes an app whose settings can be printed for a program that is this app. */
  readonly makesApp?: boolean;
  /** What may be wanted next, a line each. `{id}` is a value of the answer, `{id|none}` has words for none. */
  readonly next?: readonly string[];
}

export interface VerbGroup {
  readonly name: string;
  readonly what: string;
  readonly verbs: readonly Verb[];
}

type More = Pick<Field, 'kind' | 'required' | 'setting'>;

export function field(flags: string, into: string, what: string, more: More = {}): Field {
  return { flags, into, what, ...more };
}

export function required(flags: string, into: string, what: string, kind: Kind = 'text'): Field {
  return { flags, into, what, kind, required: true };
}

export const OF_ORGANIZATION = required(
  '--organization <name>',
  'id',
  'id or name of the organization',
  'organization',
);
export const AMOUNT = required('--amount <tonnes>', 'amount', 'how much', 'number');
export const CREDIT = required('--credit-id <id>', 'creditId', 'id of the credit');
export const LIMIT = field('--limit <n>', 'limit', 'show the newest so many', { kind: 'number' });
