import type { MirrorPort } from '../../../mirror/port.js';

export type Name = keyof MirrorPort;
export type Given = { readonly [Each in Name]: Parameters<MirrorPort[Each]> };
export type Answers = { readonly [Each in Name]: Awaited<ReturnType<MirrorPort[Each]>> };

/** The port's operations as SQLite does them: at once, so that nothing can be awaited inside a transaction. */
export type MirrorOperations = { readonly [Each in Name]: (...given: Given[Each]) => Answers[Each] };

export type Call = <Each extends Name>(name: Each, given: Given[Each]) => Promise<Answers[Each]>;

/** The port, where one function does every operation by its name. */
export function portOf(call: Call): MirrorPort {
  return {
    checkOrigin: (...given) => call('checkOrigin', given),
    moveOrigin: (...given) => call('moveOrigin', given),
    setSchedule: (...given) => call('setSchedule', given),
    lastListed: (...given) => call('lastListed', given),
    noteListed: (...given) => call('noteListed', given),
    raiseFence: (...given) => call('raiseFence', given),
    highestClaim: (...given) => call('highestClaim', given),
    findInstallation: (...given) => call('findInstallation', given),
    listInstallations: (...given) => call('listInstallations', given),
    writeInstallation: (...given) => call('writeInstallation', given),
    expect: (...given) => call('expect', given),
    lastReads: (...given) => call('lastReads', given),
    mark: (...given) => call('mark', given),
    begin: (...given) => call('begin', given),
    pages: (...given) => call('pages', given),
    find: (...given) => call('find', given),
    cells: (...given) => call('cells', given),
    after: (...given) => call('after', given),
    commit: (...given) => call('commit', given),
    closeSync: (...given) => call('closeSync', given),
    forgottenPeople: (...given) => call('forgottenPeople', given),
    dueProjects: (...given) => call('dueProjects', given),
    writeProjects: (...given) => call('writeProjects', given),
    enterCertificates: (...given) => call('enterCertificates', given),
    makeCertificatesDue: (...given) => call('makeCertificatesDue', given),
    dueCertificates: (...given) => call('dueCertificates', given),
    writeCertificates: (...given) => call('writeCertificates', given),
    removeUnnamedFiles: (...given) => call('removeUnnamedFiles', given),
    filledSince: (...given) => call('filledSince', given),
    freshnessFacts: (...given) => call('freshnessFacts', given),
    knownResources: (...given) => call('knownResources', given),
    keepFreshnessFacts: (...given) => call('keepFreshnessFacts', given),
    keepFindings: (...given) => call('keepFindings', given),
    forget: (...given) => call('forget', given),
    removeMembers: (...given) => call('removeMembers', given),
    beginPurge: (...given) => call('beginPurge', given),
    purgeRows: (...given) => call('purgeRows', given),
    endPurge: (...given) => call('endPurge', given),
    pruneSyncs: (...given) => call('pruneSyncs', given),
    close: (...given) => call('close', given),
  };
}
