const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "object-src 'self'",
  /** Chromium shows a PDF that a page embeds as a frame. */
  "frame-src 'self'",
  "base-uri 'none'",
];

/** For what a page of ours shows inside it. */
export function framedByUs(): Readonly<Record<string, string>> {
  return { 'content-security-policy': [...CSP, "frame-ancestors 'self'"].join('; ') };
}

/** With every answer, whatever it is. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [...CSP, "frame-ancestors 'none'"].join('; '),
  /** Without any, a browser says of a form of ours that it comes from nowhere. */
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
