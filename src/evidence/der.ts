import { throwTimestampError } from './evidence-error.js';

/** An element of DER, the binary encoding of ASN.1. */
interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** The bytes of the element with its tag and length. */
  readonly whole: Uint8Array;
}

/** Encodes one DER element. Throws an EvidenceError if its content has more than 127 bytes. */
export function encodeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents);
  if (content.length > 127) throwTimestampError('a request is longer than this program writes');
  return Buffer.concat([Uint8Array.of(tag, content.length), content]);
}

/** Parses the DER element that begins at an offset. Throws an EvidenceError if it is malformed or incomplete. */
function parseDerElement(bytes: Uint8Array, offset: number): DerElement {
  const [tag = 0, first = 0] = bytes.subarray(offset, offset + 2);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  if (first === 0x80 || lengthBytes > 3) throwTimestampError('its answer is not DER');
  const start = offset + 2 + lengthBytes;
  const length = bytes.subarray(offset + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = start + (lengthBytes === 0 ? first : length);
  if (end > bytes.length || start > bytes.length) throwTimestampError('its answer ends too early');
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(offset, end) };
}

/** Parses the content of an element as a sequence of elements. Throws an EvidenceError if it is malformed. */
export function listDerChildren({ content }: DerElement): readonly DerElement[] {
  const found: DerElement[] = [];
  for (let offset = 0; offset < content.length; offset += found.at(-1)?.whole.length ?? 0)
    found.push(parseDerElement(content, offset));
  return found;
}

/** Parses bytes that consist of exactly one DER element. Throws an EvidenceError if more bytes follow it. */
export function parseOnlyDerElement(bytes: Uint8Array): DerElement {
  const element = parseDerElement(bytes, 0);
  return element.whole.length === bytes.length
    ? element
    : throwTimestampError('its answer has more than one part');
}
