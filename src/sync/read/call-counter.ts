import type { AnswerDescription, ReadTraffic } from '../../mirror/port/read.js';
import { RegistryError } from '../../registry/errors.js';
import type { CallRecord } from '../../registry/http/http-types.js';

/** Creates a counter of the requests and bytes of one read. The counter also keeps the last HTTP status. */
export function createCallCounter(signal: AbortSignal, now: () => number) {
  let requests = 0;
  let bytes = 0;
  let lastStatus: number | null = null;
  let lastAnswerAt: number | null = null;
  const owners: (string | null)[] = [];

  /** Counts a request and its bytes. Remembers the HTTP status and the time of the answer. */
  function onCall(call: CallRecord): void {
    requests += 1;
    bytes += call.bytes;
    if (call.status === null) return;
    lastStatus = call.status;
    lastAnswerAt = now();
  }

  return {
    /** The options to pass to each request of the read, so that the request is counted. */
    requestOptions: { signal, onCall, onOwner: (owner: string | null) => void owners.push(owner) },

    /** Returns what was counted so far. */
    getTraffic: (): Pick<ReadTraffic, 'requests' | 'bytes' | 'lastAnswerAt'> => ({
      requests,
      bytes,
      lastAnswerAt,
    }),

    /** Returns whether every answer named the organization that it belongs to. False if there was no answer. */
    answersNameOrganization: () => owners.length > 0 && !owners.includes(null),

    /** Describes the registry's last HTTP response in a read that succeeded. Returns null if there was none. */
    describeGoodAnswer: (form: AnswerDescription['form']): AnswerDescription | null =>
      lastStatus === null ? null : { status: lastStatus, form, at: now(), text: null },

    /**
     * Describes the HTTP response of the registry that caused an error. Returns null if no response caused it. `maskSecrets`
     * replaces secrets in the stored text of the response.
     */
    describeBadAnswer(error: unknown, maskSecrets: (text: string) => string): AnswerDescription | null {
      if (!(error instanceof RegistryError)) return null;
      const at = now();
      if (lastStatus !== null && error.answer !== null) {
        const { shape: form, text } = error.answer;
        return { status: lastStatus, at, form, text: maskSecrets(text) };
      }
      if (error.status !== null) return { status: error.status, form: 'none', at, text: null };
      if (lastStatus === null || error.code !== 'bad_answer') return null;
      return { status: lastStatus, form: 'unusable', at, text: null };
    },
  };
}
