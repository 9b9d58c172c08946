import { CommandFault, EXIT } from './exit.js';

/** A date means the end of that day in UTC. */
export function readInstant(text: string, now: number): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = day ? Date.parse(`${text}T23:59:59.999Z`) : Date.parse(text);
  const real = day ? new Date(ms || 0).toISOString().startsWith(text) : instant;
  if (!real || Number.isNaN(ms)) {
    throw new CommandFault(
      EXIT.usage,
      `Expected a date like 2025-12-31 or an instant like 2025-12-31T12:00:00Z, got "${text}".`,
    );
  }
  const today = new Date(now).toISOString().slice(0, 10);
  if (day ? text > today : ms > now) {
    throw new CommandFault(EXIT.usage, `${text} lies in the future: the mirror knows the past only.`);
  }
  return new Date(Math.min(ms, now)).toISOString();
}
