import { formatWithCommas } from '../../text/numbers.js';
import { formatTonnes } from '../../text/tonnes.js';

/** Millionths of a tonne. Null if the amount is too large, or if the check has no such amount. */
export type Micro = number | bigint | null;

/** Why a row does not balance. The names of the values are those of the JSON output. */
export type BalanceReason =
  /** The retirements that are listed differ from those that the mirror counted. */
  | {
      readonly code: 'counted_differently';
      readonly listed_rows: number;
      readonly listed_micro: Micro;
      readonly counted_rows: number;
      readonly counted_micro: Micro;
    }
  /** The first amount of a credit and the changes since then do not add up to the listed amount. */
  | {
      readonly code: 'moved_differently';
      readonly opening_micro: Micro;
      readonly risen_micro: Micro;
      readonly fallen_micro: Micro;
      readonly listed_micro: Micro;
    };

/** Describes why a row does not balance, such as "2 listed with 5 t, 1 counted with 4 t". */
export function describeBalanceReason(reason: BalanceReason): string {
  switch (reason.code) {
    case 'counted_differently':
      return `${formatWithCommas(reason.listed_rows)} listed with ${formatMicro(reason.listed_micro)}, ${formatWithCommas(reason.counted_rows)} counted with ${formatMicro(reason.counted_micro)}`;
    case 'moved_differently':
      return `${formatMicro(reason.opening_micro)} at first, plus ${formatMicro(reason.risen_micro)}, minus ${formatMicro(reason.fallen_micro)}, but ${formatMicro(reason.listed_micro)} listed`;
    default:
      return reason satisfies never;
  }
}

/** Formats millionths of a tonne, such as `5 t`. Null is an amount that is too large. */
function formatMicro(micro: Micro): string {
  return micro === null ? 'a sum that is too large' : `${formatTonnes(BigInt(micro))} t`;
}
