import type { ChangeLog } from '../../events/send/sender-types.js';
import { ALL_CHANGES, readBetween, readLastNumber } from '../../query/history/changes.js';
import type { Reader } from '../../store/contract/reader.js';

/** Creates a change log, through which the sender of events reads the numbered changes of the mirror. */
export function createChangeLog(reader: Reader): ChangeLog {
  return {
    readNewest: () => readLastNumber(reader),
    read: ({ after, to, organizationId }) =>
      readBetween(reader, { ...ALL_CHANGES, organizationId }, after, to),
  };
}
