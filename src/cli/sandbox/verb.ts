/** How a word of the command line becomes a value of a call. The last four may be said by name. */
export const KINDS = [
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

/** One command and the route of the control API that it stands for. */
export interface Verb {
  readonly command: string;
  readonly what: string;
  readonly route: string;
  readonly fields?: readonly Field[];
  readonly body?: (given: Readonly<Record<string, unknown>>) => object;
  /** The member of the answer that is a list. */
  readonly list?: string;
  /** What is shown of the answer; all of it where nothing is named. */
  readonly columns?: readonly string[];
  readonly example: string;
  /** What may be wanted next. */
  readonly next?: string | ((answer: unknown) => readonly string[]);
}

export interface VerbGroup {
  readonly name: string;
  readonly what: string;
  readonly verbs: readonly Verb[];
}
