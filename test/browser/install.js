// Installs a browser for the tests, unless the lock file beside this file is the one that was installed last.
import { installPackage } from '../support/install-package.js';

process.exitCode = installPackage(import.meta.dirname);
