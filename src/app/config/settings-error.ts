/** What is wrong with one setting. */
export interface SettingsFault {
  readonly name: string;
  readonly expected: string;
  /** What was found instead. Never contains the text of a secret. */
  readonly problem: string;
}

/** Thrown with everything that is wrong with the settings. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly SettingsFault[];

  constructor(faults: readonly SettingsFault[]) {
    const heading = faults.length === 1 ? 'One setting is wrong:' : `${faults.length} settings are wrong:`;
    const lines = faults.map(({ name, expected, problem }) => `  ${name}: expected ${expected}; ${problem}`);
    super([heading, ...lines].join('\n'));
    this.faults = faults;
  }
}
