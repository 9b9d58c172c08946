// Installs DuckDB for the tests, where the lock beside this file is not the one that was installed last.
import { installPackage } from '../support/install-package.js';

process.exitCode = installPackage(import.meta.dirname);
