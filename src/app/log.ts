import { type Logger, pino } from 'pino';

export type Log = Logger;

export interface LogOptions {
  readonly level: string;
  /** Takes what is secret out of a line of JSON. */
  readonly mask: { readonly line: (json: string) => string };
  readonly now: () => number;
  /** For a person at a terminal; else one JSON line an event. */
  readonly pretty: boolean;
  /** Whether that person's terminal shows colours. */
  readonly inColour?: boolean;
  /** Fields of every line, such as the role of the process. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Where lines go; without it standard output, written at once so that a crash loses none. */
  readonly sink?: { readonly write: (line: string) => unknown };
}

/** Ids go in as the fields `delivery`, `job` and `installation`; errors as `err`. */
export function createLog(options: LogOptions): Log {
  const { level, mask, now, pretty, fields = {}, sink = standardOutput() } = options;
  const shape = pretty ? forPeople(options.inColour === true) : asIs;
  return pino(
    {
      level,
      base: fields,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
    },
    { write: line => void sink.write(shape(mask.line(line))) },
  );
}

/** Where lines cannot be written a megabyte of them waits, and what is more is lost: nothing ends by it. */
function standardOutput() {
  const out = pino.destination({ dest: 1, sync: true, maxLength: 1 << 20 });
  return out.on('error', () => undefined);
}

function asIs(line: string): string {
  return line;
}

const RESET = '\u001b[0m';
const COLOURS: Readonly<Record<string, string>> = {
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31m',
};
/** Text from outside must not drive the terminal, nor begin a line of its own. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

interface Event {
  readonly level: string;
  readonly time?: string;
  readonly msg?: string;
}

/** Local time, level, what was said, and the fields as JSON. */
function forPeople(inColour: boolean): (line: string) => string {
  return line => {
    const { level, time, msg = '', ...fields }: Event = JSON.parse(line);
    const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    const said = `${msg}${rest}`.replaceAll(CONTROLS, '?');
    const colour = inColour ? COLOURS[level] : undefined;
    const word = level.toUpperCase();
    return `${time === undefined ? '' : clock(time)} ${colour === undefined ? word : `${colour}${word}${RESET}`} ${said}\n`;
  };
}

function clock(time: string): string {
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(11, -1);
}

function describeError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}
