/** One setting as a file of settings is written: this program and Node read it with --env-file, a shell with `set -a`. */
export function envLine(name: string, value: string): string {
  const text = /^[\w./:@-]*$/.test(value) ? value : `'${value}'`;
  return `${name}=${text}\n`;
}
