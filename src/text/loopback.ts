/** Whether a host is this machine: `localhost`, an address such as `127.0.0.1`, or `::1` with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|(::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** Whether the Host header of a request names this machine. The header may contain a port. */
export function isLoopbackHostHeader(header: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(header);
}

/** Whether an http or https URL points to this machine. */
export function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}
