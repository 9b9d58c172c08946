import type { Command } from 'commander';
import { examples } from '../command.js';
import { confirm } from '../confirm.js';
import { connect } from '../place/connect.js';
import { type Io, print, say } from '../io.js';
import { sheet } from './sheet.js';
import { writeValue } from '../output/output.js';
import { findSettings } from '../place/find-place.js';

interface CreateOptions {
  readonly name: string;
  readonly type: string;
  readonly country?: string;
  readonly email: string;
  readonly userName?: string;
  readonly userPicture?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function defineCreate(group: Command, io: Io): void {
  const command = group
    .command('create')
    .description('Create a user and an organization under that user; the app is installed on it at once')
    .requiredOption('--name <name>', 'name of the organization')
    .requiredOption(
      '--type <type>',
      'such as marketParticipant, projectDeveloper, projectProponent, validationBody or other',
    )
    .option('--country <code>', 'two capital letters')
    .requiredOption('--email <address>', 'e-mail address of the user')
    .option('--user-name <name>', 'name of the user')
    .option('--user-picture <url>', 'where a picture of the user is')
    .option('--yes', 'do it without a question')
    .option('--json', 'print what was created as JSON')
    .action((options: CreateOptions) => create(io, options));
  examples(command, [
    'carbon-mirror organizations create --name "Harbour Ferries" --type marketParticipant --country IS --email ada@harbour.example --user-name "Ada Quay"',
  ]);
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { name, type, country: countryCode, email, userName, userPicture: profilePicture } = options;
  const client = await connect(findSettings(io), io);
  await confirm(
    io,
    `Create the organization "${name}" and its user ${email} in ${client.http.baseUrl}.`,
    options,
  );
  const made = await client.app.createUserAndOrganization({
    user: { email, fullName: userName, profilePicture },
    organization: { fullName: name, type, countryCode },
  });
  const row = {
    organization_id: made.organization?.id ?? made.installation.organizationId,
    organization: made.organization?.fullName,
    installation_id: made.installation.id,
    user_id: made.user?.id,
    email: made.user?.email,
  };
  if (options.json) await writeValue(io, row);
  else await print(io, ...sheet(row));
  say(io, 'The webhook about the installation brings it into the mirror.');
}
