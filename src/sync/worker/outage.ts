import type { FailureCode } from '../outcome.js';

/** What passes when the registry answers again. A registry that asked to wait is not hurried. */
const PASSING: readonly FailureCode[] = ['unavailable', 'timeout', 'bad_answer', 'unauthorized'];
/** Where something ended well a moment ago the registry did not stop to answer: what fails then is of one organization. */
const SILENT_FOR_MS = 5000;

export interface OutageOptions {
  readonly tryFirst: (codes: readonly string[]) => Promise<number>;
  readonly now: () => number;
  /** So many are left to be tried again. */
  readonly over: (left: number) => void;
  readonly notAsked: (error: unknown) => void;
}

/** From the first good answer after an outage on, what failed in it comes first. What was before the start nobody knows. */
export function createOutage({ tryFirst, now, over, notAsked }: OutageOptions) {
  let hasFailed = true;
  let passedAt = -Infinity;

  async function tryAgain(): Promise<void> {
    try {
      const left = await tryFirst(PASSING);
      if (left > 0) over(left);
    } catch (error) {
      hasFailed = true;
      notAsked(error);
    }
  }

  return {
    failed: (code: FailureCode | null): void => {
      hasFailed ||= code === null || PASSING.includes(code);
    },
    /** The registry has answered. */
    passed: async (): Promise<void> => {
      const isOver = hasFailed && now() - passedAt >= SILENT_FOR_MS;
      hasFailed = false;
      passedAt = now();
      if (isOver) await tryAgain();
    },
  };
}
