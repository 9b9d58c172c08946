import { readBody } from '../http/validate.js';
import { EARLIEST, LATEST } from '../store/clock.js';
import type { Store } from '../store/store.js';

export function createClockControl({ clock, now }: Store) {
  const show = () => ({ now: now(), isFrozen: clock.state().frozenAt !== null });

  /** Stops it or lets it run, then sets it, then moves it: whatever is asked for. */
  function change(body: unknown) {
    const { frozen, target } = readBody(body, (fields, faults) => {
      const moveMs = fields.value('moveMs') ?? 0;
      const at = fields.optionalText('at');
      if (!Number.isSafeInteger(moveMs)) faults.push('moveMs must be a whole number');
      if (at !== null && Number.isNaN(Date.parse(at))) faults.push('at must be an instant');
      const wanted = (at === null ? clock.now() : Date.parse(at)) + Number(moveMs);
      if (!(wanted >= EARLIEST && wanted <= LATEST)) faults.push('the clock must stay between 2000 and 9000');
      return { frozen: fields.has('frozen') ? fields.flag('frozen', false) : null, target: wanted };
    });
    if (frozen !== null) clock[frozen ? 'freeze' : 'run']();
    clock.setTo(target);
    return show();
  }

  return { show, change };
}
