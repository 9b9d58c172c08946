/** What nobody can read any more, or never could. */
export const UNREADABLE = ['forbidden', 'not_offered', 'suspended', 'uninstalled'] as const;
