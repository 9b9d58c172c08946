/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  checkFailed: 3,
  notAuthorized: 4,
  unreachable: 5,
  notFound: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
