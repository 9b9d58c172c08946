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

/** Returns response headers that let pages of this console show the response in a frame. */
export function allowOwnFrame(): Readonly<Record<string, string>> {
  return { 'content-security-policy': [...CSP, "frame-ancestors 'self'"].join('; ') };
}

/** Headers of every answer. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [...CSP, "frame-ancestors 'none'"].join('; '),
  /** Without a referrer policy, browsers send `Origin: null` with our forms. */
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
