/**
 * Allows letters, digits, spaces and a few signs, beginning with a letter or digit. Excludes folders, devices and hidden
 * files.
 */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._()-]{0,119}$/;
const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Returns the PDF file name in a Content-Disposition header. Null if the name is unsafe or missing. */
export function parsePdfFileName(disposition: string | null): string | null {
  const [, quoted, plain] =
    /;\s*filename=(?:"([^"\\]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(disposition ?? '') ?? [];
  const name = quoted ?? plain ?? '';
  const isSafe = SAFE_NAME.test(name) && !RESERVED_ON_WINDOWS.test(name) && /\.pdf$/i.test(name);
  return isSafe ? name : null;
}
