export interface SettingsFault {
  readonly name: string;
  readonly expected: string;
  /** What was found, in words; never the text of a secret. */
  readonly problem: string;
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly SettingsFault[];

  constructor(faults: readonly SettingsFault[]) {
    const lines = faults.map(
      ({ name, expected, problem: came }) => `  ${name}: expected ${expected}; ${came}`,
    );
    super(
      [faults.length === 1 ? 'One setting is wrong:' : `${faults.length} settings are wrong:`, ...lines].join(
        '\n',
      ),
    );
    this.faults = faults;
  }
}
