/** A fault in one setting. */
export interface SettingsFault {
  readonly name: string;
  readonly expected: string;
  /** The value that was found, in words. A secret is only described, never quoted. */
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
