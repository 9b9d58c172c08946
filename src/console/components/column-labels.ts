const LABELS: Readonly<Record<string, string>> = {
  amount_exact: 'tonnes',
  full_name: 'name',
  state_now: 'state',
  seconds: 'seconds',
  size: 'bytes',
  due_at: 'next check',
  num: 'number',
  is_default: 'default',
  run_at: 'scheduled',
  seconds_left: 'time left',
  valid_from: 'observed',
  secret_index: 'index of the secret',
  reserver_name: 'reserved by',
  end: 'result',
  rows_added: 'added',
  rows_changed: 'changed',
  rows_removed: 'removed',
};

/** Returns the readable name of a database column, in lower case: `valid_from` → "observed". */
export function toLabel(column: string): string {
  return LABELS[column] ?? column.replace(/_(at|id|name)$/, '').replaceAll('_', ' ');
}

/** Returns the readable name of a database column, with a capital letter: `valid_from` → "Observed". */
export function toHeading(column: string): string {
  return capitalize(toLabel(column));
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
