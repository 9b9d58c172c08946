import type { EvidenceFile, FolderFiles } from '../folder-files.js';

/** A folder that the reader chose or dropped. */
export interface ChosenFolder {
  readonly name: string;
  readonly files: FolderFiles;
}

type NamedFile = readonly [path: string, file: File];

/** Returns the folder of a directory picker. */
export function readPicker(chosen: Iterable<File>): ChosenFolder {
  const files = [...chosen];
  const [name = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  return toFolder(
    name,
    files.map(file => [file.webkitRelativePath.split('/').slice(1).join('/'), file]),
  );
}

/**
 * Returns the folder that was dropped, or null if something else was. Pages that are opened from disk may not read entries in
 * Chrome and Edge, which have handles instead; other browsers have only entries.
 */
export async function readDrop(transfer: DataTransfer | null): Promise<ChosenFolder | null> {
  const item: DroppedItem | undefined = transfer?.items[0];
  /** Both must be requested before anything is awaited. */
  const entry = item?.webkitGetAsEntry() ?? null;
  const handle = await item?.getAsFileSystemHandle?.();
  if (handle?.kind === 'directory') return toFolder(handle.name, await listHandles(handle, ''));
  if (entry !== null && isDirectory(entry)) return toFolder(entry.name, await listEntries(entry, ''));
  return null;
}

/** An item of a drop. The type library knows no handles of dropped items. */
interface DroppedItem {
  readonly webkitGetAsEntry: () => FileSystemEntry | null;
  readonly getAsFileSystemHandle?: () => Promise<DirectoryHandle | FileHandle | null>;
}

interface DirectoryHandle {
  readonly kind: 'directory';
  readonly name: string;
  readonly values: () => AsyncIterable<DirectoryHandle | FileHandle>;
}

interface FileHandle {
  readonly kind: 'file';
  readonly name: string;
  readonly getFile: () => Promise<File>;
}

function toFolder(name: string, files: readonly NamedFile[]): ChosenFolder {
  return { name, files: new Map(files.map(([path, file]) => [path, toEvidenceFile(file)])) };
}

function toEvidenceFile(file: File): EvidenceFile {
  return { size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) };
}

async function listHandles(folder: DirectoryHandle, prefix: string): Promise<NamedFile[]> {
  const files: NamedFile[] = [];
  for await (const handle of folder.values()) {
    const path = `${prefix}${handle.name}`;
    if (handle.kind === 'directory') files.push(...(await listHandles(handle, `${path}/`)));
    else files.push([path, await handle.getFile()]);
  }
  return files;
}

async function listEntries(folder: FileSystemDirectoryEntry, prefix: string): Promise<NamedFile[]> {
  const reader = folder.createReader();
  const files: NamedFile[] = [];
  for (;;) {
    /** A folder is read in portions, until one is empty. */
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (entries.length === 0) return files;
    for (const entry of entries) {
      const path = `${prefix}${entry.name}`;
      if (isDirectory(entry)) files.push(...(await listEntries(entry, `${path}/`)));
      else if (isFile(entry)) files.push([path, await getFile(entry)]);
    }
  }
}

function getFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => {
    entry.file(resolve, reject);
  });
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
