import { readBody } from '../http/request-body.js';
import { EARLIEST_INSTANT, LATEST_INSTANT } from '../store/clock.js';
import type { SandboxStore } from '../store/store.js';

/** Creates the functions that show and change the sandbox clock for the control API. */
export function createClockControl({ clock, now }: SandboxStore) {
  /** Returns the JSON of the clock: its time and whether it is frozen. */
  function toClockJson() {
    return { now: now(), isFrozen: clock.getState().frozenAt !== null };
  }

  /**
   * Changes the sandbox clock and returns its JSON. The body's optional fields are `frozen`, `at` (the new time) and `moveMs` (a
   * shift in milliseconds).
   */
  function changeClock(body: unknown) {
    const { isFrozen, targetMs } = readBody(body, (fields, problems) => {
      const moveMs = fields.value('moveMs') ?? 0;
      const at = fields.optionalText('at');
      if (!Number.isSafeInteger(moveMs)) problems.push('moveMs must be a whole number');
      if (at !== null && Number.isNaN(Date.parse(at))) problems.push('at must be an instant');
      const startMs = at === null ? clock.now() : Date.parse(at);
      const shiftedMs = startMs + Number(moveMs);
      const isInRange = shiftedMs >= EARLIEST_INSTANT && shiftedMs <= LATEST_INSTANT;
      if (!isInRange) problems.push('the clock must stay between 2000 and 9000');
      return {
        isFrozen: fields.has('frozen') ? fields.boolean('frozen', false) : null,
        targetMs: shiftedMs,
      };
    });
    if (isFrozen === true) clock.freeze();
    if (isFrozen === false) clock.resume();
    clock.setTime(targetMs);
    return toClockJson();
  }

  return { show: toClockJson, change: changeClock };
}
