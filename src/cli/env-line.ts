/** One setting as a file of settings is written: this program and Node read it with --env-file, a shell with `set -a`. */
export function envLine(name: string, value: string): string {
  const line = value.trimEnd().replaceAll('\n', '\\n');
  const text = /^[\w./:@-]*$/.test(line) ? line : `'${line}'`;
  return `${name}=${text}\n`;
}
