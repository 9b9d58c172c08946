import { type Logger, pino } from 'pino';

export type Log = Logger;

export interface LogOptions {
  readonly level: string;
  /** Removes secrets from a line of JSON. */
  readonly mask: { readonly line: (json: string) => string };
  readonly now: () => number;
  /** Whether lines are text for a terminal; otherwise each event is one line of JSON. */
  readonly pretty: boolean;
  /** Whether text for a terminal is coloured. */
  readonly inColour?: boolean;
  /** Fields of every line, such as the role of the process. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The output of the log lines. The default is standard output, written synchronously so that a crash loses no line. */
  readonly sink?: { readonly write: (line: string) => unknown };
}

/** Creates the log of a process, in JSON or in a readable form for a terminal. */
export function createLog(options: LogOptions): Log {
  const { level, mask, now, pretty, fields = {}, sink = openStandardOutput() } = options;
  const formatLine = pretty ? createTerminalFormatter(options.inColour === true) : keepJson;
  return pino(
    {
      level,
      base: fields,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: serializeError, error: serializeError },
    },
    { write: line => void sink.write(formatLine(mask.line(line))) },
  );
}

/** Opens standard output for synchronous writes. Ignores write errors. */
function openStandardOutput() {
  // If the output cannot be written, up to 1 MiB waits and the rest is lost.
  const output = pino.destination({ dest: 1, sync: true, maxLength: 1 << 20 });
  return output.on('error', () => undefined);
}

/** Returns a log line unchanged. */
function keepJson(line: string): string {
  return line;
}

const RESET = '\u001b[0m';
const COLOURS: Readonly<Record<string, string>> = {
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31m',
};
/** Control and format characters: foreign text must neither control the terminal nor start a new line. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A log line as JSON. */
interface LogEvent {
  readonly level: string;
  readonly time?: string;
  readonly msg?: string;
}

/** Creates a function that formats a JSON log line for a terminal. */
function createTerminalFormatter(inColour: boolean): (line: string) => string {
  return line => {
    const { level, time, msg = '', ...fields }: LogEvent = JSON.parse(line);
    const fieldText = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    const text = `${msg}${fieldText}`.replaceAll(CONTROL_CHARACTERS, '?');
    const colour = inColour ? COLOURS[level] : undefined;
    const label = level.toUpperCase();
    const shownLevel = colour === undefined ? label : `${colour}${label}${RESET}`;
    return `${time === undefined ? '' : formatLocalTime(time)} ${shownLevel} ${text}\n`;
  };
}

/** Formats an ISO instant as local time, such as "14:05:09.240". */
function formatLocalTime(time: string): string {
  const instant = new Date(time);
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(11, -1);
}

/** Converts an error to an object that can be logged. Returns any other value unchanged. */
function serializeError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}
