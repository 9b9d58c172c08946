const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "object-src 'self'",
  "base-uri 'none'",
];

/** With every answer, whatever it is. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [...CSP, "frame-ancestors 'none'"].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
