const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(:\d{1,5})?$/i;

/**
 * Whether a request calls us by a name of ours. Somebody may point a name of theirs at this machine: to a browser our
 * pages would then be theirs. The port does not matter: a tunnel has another one.
 */
export function isOurName(host: string | undefined, names: readonly string[]): boolean {
  const name = HOST.exec(host ?? '')?.[1]?.toLowerCase();
  return name !== undefined && [...LOOPBACK, ...names].includes(name);
}
