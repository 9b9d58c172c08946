/** Letters, digits, blanks and a few signs, with a letter or a digit first: no folder, no device, nothing hidden. */
const HARMLESS = /^[A-Za-z0-9][A-Za-z0-9 ._()-]{0,119}$/;
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Of a Content-Disposition header. Another name than a harmless PDF's is none: it is text of a stranger. */
export function readFileName(disposition: string | null): string | null {
  const [, quoted, plain] =
    /;\s*filename=(?:"([^"\\]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(disposition ?? '') ?? [];
  const name = quoted ?? plain ?? '';
  const isUsable = HARMLESS.test(name) && !RESERVED.test(name) && /\.pdf$/i.test(name);
  return isUsable ? name : null;
}
