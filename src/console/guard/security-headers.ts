import { NOTICE_STYLE_SOURCE } from '../../text/notice-page.js';

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

/**
 * Creates the HTTP headers of a notice, the page that a refused visitor gets. The headers allow the inline style of the notice,
 * because a refused visitor cannot load the stylesheet.
 */
export function createNoticeHeaders(): Readonly<Record<string, string>> {
  const policy = CSP.filter(directive => !directive.startsWith('style-src'));
  const directives = [...policy, `style-src ${NOTICE_STYLE_SOURCE}`, "frame-ancestors 'none'"];
  return { 'content-security-policy': directives.join('; ') };
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
