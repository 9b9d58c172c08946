/** The parts of the name of a certificate file. */
interface CertificateParts {
  readonly retiredAt: string | null;
  readonly beneficiary: string | null;
  /** Tonnes. */
  readonly amount: string | null;
  readonly retirementId: string;
}

const MAX_BENEFICIARY = 60;
const ID_LENGTH = 8;

/**
 * Returns a file name that a person can read, such as `2026-08-08 Quillford Freight 2200 t 7023a782.pdf`. The parts come from
 * the registry, so everything but letters, digits and single dots, hyphens and spaces is removed.
 */
export function nameCertificate({ retiredAt, beneficiary, amount, retirementId }: CertificateParts): string {
  const parts = [
    retiredAt?.slice(0, 'YYYY-MM-DD'.length) ?? '',
    cleanNamePart(beneficiary ?? '').slice(0, MAX_BENEFICIARY),
    amount === null ? '' : `${amount} t`,
    retirementId.slice(0, ID_LENGTH),
  ];
  const name = parts
    .map(cleanNamePart)
    .filter(part => part !== '')
    .join(' ');
  return `${name === '' ? 'certificate' : name}.pdf`;
}

/** Replaces everything but letters, digits, dots, hyphens and spaces by spaces. Then merges repeated dots and spaces, and trims. */
function cleanNamePart(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}.\- ]+/gu, ' ')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/ {2,}/g, ' ')
    .replace(/^[. -]+|[. -]+$/g, '');
}
