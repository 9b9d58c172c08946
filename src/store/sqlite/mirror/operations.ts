import type { MirrorPort } from '../../../mirror/port.js';
import type { OfEngine } from '../../mirror/mirror.js';

export type Name = OfEngine;
export type Given = { readonly [Each in Name]: Parameters<MirrorPort[Each]> };
export type Answers = { readonly [Each in Name]: Awaited<ReturnType<MirrorPort[Each]>> };

/** The port's operations as SQLite does them: at once, so that nothing can be awaited inside a transaction. */
export type MirrorOperations = { readonly [Each in Name]: (...given: Given[Each]) => Answers[Each] };

export type Call = <Each extends Name>(name: Each, given: Given[Each]) => Promise<Answers[Each]>;

/** The port, where one function does every operation by its name. */
export function portOf(call: Call): Pick<MirrorPort, Name> {
  return {
    writeInstallation: (...given) => call('writeInstallation', given),
    pages: (...given) => call('pages', given),
    find: (...given) => call('find', given),
    cells: (...given) => call('cells', given),
    after: (...given) => call('after', given),
    commit: (...given) => call('commit', given),
    closeSync: (...given) => call('closeSync', given),
    forgottenPeople: (...given) => call('forgottenPeople', given),
    writeProjects: (...given) => call('writeProjects', given),
    enterCertificates: (...given) => call('enterCertificates', given),
    makeCertificatesDue: (...given) => call('makeCertificatesDue', given),
    dueCertificates: (...given) => call('dueCertificates', given),
    writeCertificates: (...given) => call('writeCertificates', given),
    removeUnnamedFiles: (...given) => call('removeUnnamedFiles', given),
    freshnessFacts: (...given) => call('freshnessFacts', given),
    knownResources: (...given) => call('knownResources', given),
    keepFreshnessFacts: (...given) => call('keepFreshnessFacts', given),
    forget: (...given) => call('forget', given),
    removeMembers: (...given) => call('removeMembers', given),
    beginPurge: (...given) => call('beginPurge', given),
    purgeRows: (...given) => call('purgeRows', given),
    endPurge: (...given) => call('endPurge', given),
    close: (...given) => call('close', given),
  };
}
