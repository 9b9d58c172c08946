import { type Logger, pino } from 'pino';

export type Log = Logger;

export interface LogOptions {
  readonly level: string;
  /** Takes what is secret out of a line of JSON. */
  readonly mask: { readonly line: (json: string) => string };
  readonly now: () => number;
  /** For a person at a terminal; else one JSON line an event. */
  readonly pretty: boolean;
  /** Fields of every line, such as the role of the process. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Where lines go; without it standard output, written at once so that a crash loses none. */
  readonly sink?: { readonly write: (line: string) => unknown };
}

/** Ids go in as the fields `delivery`, `job` and `installation`; errors as `err`. */
export async function createLog(options: LogOptions): Promise<Log> {
  const { level, mask, now, pretty, fields = {}, sink = pino.destination({ dest: 1, sync: true }) } = options;
  const shape = pretty ? await createPrettyShape() : asIs;
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

function asIs(line: string): string {
  return line;
}

/** A plain function in this process: a worker thread could lose the last lines of a crash. */
async function createPrettyShape(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const shape = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return line => shape(withoutControls(line)) ?? '';
}

/** Text from outside must not drive the terminal. */
function withoutControls(line: string): string {
  return line.replaceAll('\\u001b', '?').replaceAll('\u009b', '?');
}

function describeError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}
