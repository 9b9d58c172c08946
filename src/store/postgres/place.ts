/** A database in a person's words: neither its password nor its user. */
export function locationOf(url: string): string {
  const { hostname, host, pathname, searchParams } = new URL(url.replace('@/', '@localhost/'));
  const server = searchParams.get('host') ?? (hostname === '' ? 'localhost' : host);
  return `the database "${decodeURIComponent(pathname.slice(1))}" at ${server}`;
}
