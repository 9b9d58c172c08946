import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireFoundId } from '../../src/cli/find-rows.js';
import { findByName, type NamedObject } from '../../src/query/names.js';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { CommandError } from '../../src/cli/command-error.js';
import { type DemoMirror, startDemoMirror } from '../support/mirror/demo.js';

const NAMED_KINDS = ['organization', 'installation', 'app'];
const sought = { what: 'organization', where: 'in the mirror' };

function findOrExplain(text: string, known: readonly NamedObject[]) {
  try {
    return { chosen: requireFoundId(findByName(text, known, sought), 'See the list.') };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const { exitCode, lines } = error;
    return { exitCode, message: lines[0], advice: lines.slice(1).join('\n') };
  }
}

describe('a name', () => {
  const known = [
    { id: 'a1', name: 'Harbour Ferries' },
    { id: 'a2', name: 'Harbour Lights' },
    { id: 'b1', name: 'North Wind' },
    { id: 'north', name: null },
  ];

  test('that matches several rows is refused with all of them, exit 2', () => {
    const { exitCode, advice } = findOrExplain('Harbour', known);
    expect(exitCode).toBe(2);
    expect(advice).toBe('  "Harbour Ferries", a1\n  "Harbour Lights", a2');
    const twins = known.map(({ id }) => ({ id, name: 'Twin' }));
    expect(findOrExplain('Twin', twins)).toMatchObject({ exitCode: 2 });
    expect(findOrExplain(' ', known)).toMatchObject({ exitCode: 2 });
  });
});

describe('commands that take names', () => {
  let demo: DemoMirror;
  let names: Record<string, string>;

  beforeAll(async () => {
    demo = await startDemoMirror();
    const { name: app } = demo.sandbox.registry.apps.get(demo.appId);
    const [first] = demo.sandbox.registry.organizations.listAll();
    const organization = String(first?.fullName);
    names = { organization, installation: organization, app };
  });

  afterAll(async () => {
    await demo.stop();
  });

  /** Returns the arguments and options that a command requires, except the one under test. */
  function createRequiredArguments(command: Command, omitted: string): string[] {
    const { organizationIds, folder } = demo;
    const valueByOption: Record<string, string> = {
      id: organizationIds[0] ?? '',
      date: new Date().toISOString().slice(0, 10),
      folder: join(folder, 'export'),
      event: 'suspended',
      organization: organizationIds[0] ?? '',
      app: demo.appId,
      action: 'retire',
      from: 'now',
    };
    const places = command.registeredArguments
      .filter(each => each.name() !== omitted && each.required)
      .map(each => valueByOption[each.name()] ?? 'x');
    const options = command.options
      .filter(each => each.mandatory && each.attributeName() !== omitted)
      .flatMap(each => [each.long ?? '', valueByOption[each.attributeName()] ?? '1']);
    const retiring = options.includes('retire') ? ['--beneficiary', 'a', '--reason', 'b'] : [];
    const switches = ['--yes', '--against-registry'].filter(option => hasOption(command, option));
    return [...places, ...options, ...retiring, ...switches];
  }

  function hasOption(command: Command, option: string): boolean {
    return command.options.some(({ long }) => long === option);
  }

  test('every command exits with 6 for an unknown name', async () => {
    const walked: string[] = [];
    for (const { name, command } of await listCommands()) {
      for (const kind of NAMED_KINDS) {
        const isPlace = command.registeredArguments.some(each => each.name() === kind);
        if (!isPlace && !hasOption(command, `--${kind}`)) continue;
        const wrong = `${names[kind] ?? ''}q`;
        const others = createRequiredArguments(command, kind);
        // An option that takes several values comes last, because it takes all that follow.
        const parameters = isPlace ? [wrong, ...others] : [...others, `--${kind}`, wrong];
        const argv = [...name.split(' '), ...parameters];
        const { exitCode, stdout, stderr } = await runCommand(argv, { env: demo.env });
        expect({ exitCode, stdout }, `${argv.join(' ')}\n${stderr}`).toEqual({ exitCode: 6, stdout: '' });
        expect(stderr, argv.join(' ')).toContain(`"${names[kind] ?? ''}"`);
        walked.push(argv.join(' '));
      }
    }
    expect(walked.length).toBeGreaterThan(30);
  });

  test('every command that reads gives the same answer for an id, its start and the name', async () => {
    const now = Date.now();
    const [id = ''] = demo.organizationIds;
    const walked: string[] = [];
    for (const { name, command } of await listCommands()) {
      const reads = /(list|available|as-of|verify)$/.test(name) && hasOption(command, '--json');
      if (!reads || !hasOption(command, '--organization') || name.startsWith('sandbox')) continue;
      const argv = [...name.split(' '), ...createRequiredArguments(command, 'organization'), '--json'];
      const answers = [];
      for (const named of [id, names['organization'] ?? '', id.slice(0, 8)]) {
        const fullArgv = [...argv, '--organization', named];
        const { exitCode, stdout, stderr } = await runCommand(fullArgv, { env: demo.env, now: () => now });
        expect(exitCode, `${fullArgv.join(' ')}\n${stderr}`).toBe(0);
        answers.push(stdout.replace(/"(?:age_seconds|seconds_left)":[^,}]*/g, ''));
      }
      for (const answer of answers) expect(answer, argv.join(' ')).toBe(answers[0]);
      walked.push(argv.join(' '));
    }
    expect(walked.length).toBeGreaterThan(10);
  });

  test('schema suggests similar tables', async () => {
    const { stderr } = await runCommand(['schema', 'retirement'], { env: demo.env });
    expect(stderr).toContain('  retirements\n');
  });

  test('show finds an organization and its installation by the name of the organization', async () => {
    for (const noun of ['organizations', 'installations']) {
      const named = [noun, names['organization'] ?? '', '--json'];
      const { exitCode, stdout } = await runCommand([noun, 'show', ...named.slice(1)], { env: demo.env });
      expect(exitCode).toBe(0);
      expect(stdout).toContain(demo.organizationIds[0]);
    }
  });
});
