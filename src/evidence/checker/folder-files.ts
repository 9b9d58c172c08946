import { runInBatches, sha256, toHex } from './bytes.js';
import { assertFolder, Fault } from './fault.js';

/** A file below the folder. */
export interface EvidenceFile {
  readonly size: number;
  /** Why the file must not be read, for example because it is a link. */
  readonly problem?: string;
  readonly read: () => Promise<Uint8Array>;
}

/** The files below the folder by their paths, with slashes. */
export type FolderFiles = ReadonlyMap<string, EvidenceFile>;

const MAX_FILES = 2_000_000;
/** The size of evidence.jsonl that a checker must read; an export refuses to write more. */
export const MAX_TEXT_BYTES = 256 * 2 ** 20;
/** The size of a certificate that a checker must read. The mirror stores no larger one. */
const MAX_CERTIFICATE_BYTES = 32 * 2 ** 20;
const CERTIFICATES_AT_ONCE = 32;
const TEXT_FILES = ['evidence.jsonl', 'checkpoint.txt'];
const CERTIFICATE = /^certificates\/([0-9a-f]{64})\.pdf$/;

/** The texts of a folder, and the names of the files that are not part of the format. */
export interface FolderTexts {
  readonly lines: string;
  readonly checkpoint: string;
  readonly uncheckedFiles: readonly string[];
}

/** Reads the two texts of a folder, each once: the text that is parsed is the one that was hashed. */
export async function readFolderTexts(files: FolderFiles): Promise<FolderTexts> {
  assertFolder(files.size <= MAX_FILES, `the folder has more than ${MAX_FILES} files`);
  const uncheckedFiles: string[] = [];
  for (const [name, { size, problem }] of files) {
    assertFolder(problem === undefined, `${name} is ${problem}`);
    if (CERTIFICATE.test(name))
      assertFolder(size <= MAX_CERTIFICATE_BYTES, `${name} has more than ${MAX_CERTIFICATE_BYTES} bytes`);
    else if (TEXT_FILES.includes(name))
      assertFolder(size <= MAX_TEXT_BYTES, `${name} has more than ${MAX_TEXT_BYTES} bytes`);
    else uncheckedFiles.push(name);
  }
  const inCertificates = uncheckedFiles.find(name => /^certificates\//i.test(name));
  assertFolder(inCertificates === undefined, `${inCertificates} is not named after a hash`);
  return {
    lines: await readTextFile(files, 'evidence.jsonl'),
    checkpoint: await readTextFile(files, 'checkpoint.txt'),
    uncheckedFiles: uncheckedFiles.toSorted(),
  };
}

/** Checks that the folder has exactly these certificates, and that each has the SHA-256 of its name. */
export async function checkCertificates(
  files: FolderFiles,
  expected: ReadonlySet<string>,
  onFinished: (finished: number, total: number) => void,
): Promise<void> {
  const hashes = [...files.keys()].flatMap(name => CERTIFICATE.exec(name)?.[1] ?? []);
  const found = new Set(hashes);
  for (const hash of expected) assertFolder(found.has(hash), `${getCertificateName(hash)} is missing`);
  for (const hash of found)
    assertFolder(expected.has(hash), `${getCertificateName(hash)} belongs to no leaf`);
  await runInBatches(
    hashes,
    CERTIFICATES_AT_ONCE,
    async hash => void (await readCertificate(files, hash)),
    finished => onFinished(finished, hashes.length),
  );
}

/** Reads a certificate. Throws a Fault unless it has this SHA-256. */
export async function readCertificate(files: FolderFiles, hash: string): Promise<Uint8Array> {
  const name = getCertificateName(hash);
  const bytes = await readBytes(files, name);
  assertFolder(toHex(await sha256(bytes)) === hash, `${name} was changed`);
  return bytes;
}

function getCertificateName(hash: string): string {
  return `certificates/${hash}.pdf`;
}

async function readTextFile(files: FolderFiles, name: string): Promise<string> {
  const bytes = await readBytes(files, name);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new Fault(`${name} is not UTF-8`);
    throw error;
  }
}

async function readBytes(files: FolderFiles, name: string): Promise<Uint8Array> {
  const file = files.get(name);
  assertFolder(file !== undefined, `${name} is missing`);
  const bytes = await file.read();
  if (bytes.length !== file.size) throw new Error(`${name} changed while it was read`);
  return bytes;
}
