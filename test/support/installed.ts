import { type Program, type ProgramOptions, startProgram } from './program.js';
import { callsTo, createOrganization, issueCredit, retireFrom } from './sandbox.js';

export interface Installed {
  readonly program: Program;
  readonly organizationId: string;
  readonly installationId: string;
  /** 100 tonnes in the warehouse. */
  readonly creditId: string;
  /** A retirement of so many tonnes out of the warehouse. */
  readonly retire: (amount: number) => void;
  /** How often the registry was asked on paths that end so. */
  readonly calls: (ending: string) => number;
}

/** A program at rest with the app installed on one organization. */
export async function startInstalled(options: ProgramOptions = {}): Promise<Installed> {
  const program = await startProgram(options);
  const { registry, app, sandbox } = program;
  const { id: organizationId } = createOrganization(sandbox);
  const creditId = issueCredit(sandbox, organizationId);
  const { id: installationId } = registry.installations.install(app.id, organizationId);
  await program.rest();
  return {
    program,
    organizationId,
    installationId,
    creditId,
    retire: amount => retireFrom(sandbox, { organizationId, appId: app.id, creditId }, amount),
    calls: ending => callsTo(sandbox, ending),
  };
}
