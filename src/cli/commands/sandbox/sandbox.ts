import { type Command, Option } from 'commander';
import { STATUS } from './verbs/calls.js';
import { VERB_GROUPS } from './verbs/groups.js';
import type { Field, Verb } from './verbs/verb.js';
import { examples } from '../../command.js';
import type { Io } from '../../io.js';
import { registerForEnv } from './app-env.js';
import { reachSandbox, sandboxUrl } from './client.js';
import { runVerb, showAnswer } from './run.js';
import { defineStart } from './start.js';

interface VerbOptions {
  readonly url?: string;
  readonly json?: boolean;
  readonly env?: boolean;
  readonly [name: string]: string | readonly string[] | boolean | undefined;
}

export function define(program: Command, io: Io): void {
  const sandbox = program
    .command('sandbox')
    .description('A whole registry on this machine: start it, and be its people and its troubles');
  defineStart(sandbox, io);
  defineVerb(sandbox, STATUS, io);
  for (const { name, what, verbs } of VERB_GROUPS) {
    const group = sandbox.command(name).description(what);
    for (const verb of verbs) defineVerb(group, verb, io);
    examples(
      group,
      verbs.map(verb => `carbon-mirror sandbox ${verb.example}`),
    );
  }
  examples(sandbox, [
    'carbon-mirror sandbox start --seed 1',
    'carbon-mirror sandbox organizations list',
    'carbon-mirror sandbox apps register --name my-app --permission organization_warehouse:write',
    'carbon-mirror sandbox installations suspend "Harbour Ferries"',
    'carbon-mirror sandbox clock move 10m',
  ]);
}

function defineVerb(group: Command, verb: Verb, io: Io): void {
  const command = group.command(verb.command).description(verb.what);
  const fields = verb.fields ?? [];
  const places = fields.filter(field => !isOption(field));
  const choices = fields.filter(isOption);
  for (const field of places) command.argument(field.flags, field.what);
  for (const field of choices) command.addOption(toOption(field, io));
  if (verb.makesApp === true)
    command.option('--env', 'print the settings of a program that is this app, ready for a file .env');
  command
    .option(
      '--url <url>',
      'where the sandbox is (default: REGISTRY_BASE_URL, else SANDBOX_PORT of this machine)',
    )
    .option('--json', 'print the answer as JSON')
    .action(async () => {
      const options = command.opts<VerbOptions>();
      const spoken = [
        ...places.map((field, place) => [field, command.processedArgs[place]] as const),
        ...choices.map(field => [field, toSaid(options[toOption(field, io).attributeName()])] as const),
      ];
      const call = reachSandbox(io, options.url);
      if (verb.makesApp === true && options.env === true)
        return await registerForEnv(io, verb, spoken, { call, url: sandboxUrl(io, options.url) });
      const answer = await runVerb(verb, spoken, call);
      await showAnswer(io, verb, answer, options.json === true);
    });
  examples(command, [`carbon-mirror sandbox ${verb.example}`]);
}

function isOption(field: Field): boolean {
  return field.flags.startsWith('-');
}

function toOption(field: Field, io: Io): Option {
  const option = new Option(field.flags, field.what).makeOptionMandatory(field.required === true);
  const setting = field.setting === undefined ? undefined : io.env[field.setting];
  return setting ? option.default(setting) : option;
}

function toSaid(
  value: string | readonly string[] | boolean | undefined,
): string | readonly string[] | undefined {
  return typeof value === 'boolean' ? undefined : value;
}
