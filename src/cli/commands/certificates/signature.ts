const BYTE_RANGE =
  /\/(?:B|#42)(?:y|#79)(?:t|#74)(?:e|#65)(?:R|#52)(?:a|#61)(?:n|#6[eE])(?:g|#67)(?:e|#65)\s*\[/;

/** Whether a PDF says that it is signed. Nothing is said of whose signature it is, or whether it holds. */
export function carriesSignature(pdf: Buffer): boolean {
  return BYTE_RANGE.test(pdf.toString('latin1'));
}
