import { readFields, refuseFaults } from '../http/validate.js';
import { EARLIEST, LATEST } from '../store/clock.js';
import type { Store } from '../store/store.js';

interface ClockShape {
  readonly now: string;
  readonly isFrozen: boolean;
}

export interface ClockControl {
  show(): ClockShape;
  /** Stops it or lets it run, then sets it, then moves it: whatever is asked for. */
  change(body: unknown): ClockShape;
}

export function createClockControl({ clock, now }: Store): ClockControl {
  const show = () => ({ now: now(), isFrozen: clock.state().frozenAt !== null });

  function change(body: unknown): ClockShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const moveMs = fields.value('moveMs') ?? 0;
    const at = fields.optionalText('at');
    const isFrozen = fields.flag('frozen', false);
    if (typeof moveMs !== 'number' || !Number.isSafeInteger(moveMs))
      faults.push('moveMs must be a whole number');
    if (at !== null && Number.isNaN(Date.parse(at))) faults.push('at must be an instant');
    const target = (at === null ? clock.now() : Date.parse(at)) + Number(moveMs);
    if (!(target >= EARLIEST && target <= LATEST)) faults.push('the clock must stay between 2000 and 9000');
    refuseFaults(faults);
    if (fields.has('frozen')) clock[isFrozen ? 'freeze' : 'run']();
    if (at !== null) clock.setTo(target);
    else clock.move(Number(moveMs));
    return show();
  }

  return { show, change };
}
