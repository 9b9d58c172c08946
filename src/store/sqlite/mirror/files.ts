import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateFiles } from '../../mirror/certificates.js';

/** Files of certificates as those see them who hold the lock of all who write rows. */
export function createCertificateFiles(folder: string): CertificateFiles {
  const has = (file: string): boolean => existsSync(join(folder, file));
  return {
    among: async (_, files) => new Set(files.filter(has)),
    remove: async (_, files) => {
      const found = files.filter(has);
      for (const file of found) rmSync(join(folder, file), { force: true });
      return found.length;
    },
  };
}
