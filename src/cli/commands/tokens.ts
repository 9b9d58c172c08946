import { randomBytes } from 'node:crypto';
import { DEFAULT_LISTS, findGrantFault, LIST_NAMES } from '../../api/token-rules.js';
import { createToken, hashToken, type StoredToken, TOKEN_SCOPES } from '../../inbox/token.js';
import { describeWrongWord, findSpelling } from '../../text/spelling.js';
import { createNotFoundError, createUsageError } from '../command-error.js';
import type { CommandContext } from '../context.js';
import { type CommandGroup, defineCommand, ROW_FORMATS } from '../define-command.js';
import { findOrganizationId } from '../find-rows.js';
import {
  defineParsedText,
  defineTextList,
  makeRequired,
  NAME_HINT,
  type CommandParameter,
} from '../options.js';

const NAME = makeRequired(
  defineParsedText('name', 'name of the token; not secret', text => {
    if (/^[\w.-]{1,64}$/.test(text)) return text;
    throw createUsageError(`NAME: expected 1 to 64 letters, digits, ".", "_" and "-", got "${text}".`);
  }),
);

const create = defineCommand({
  summary: 'Create a token and print it once',
  details:
    'Without --list, the token may read all mirrored lists except members and addresses. Without --organization, it may read all organizations.',
  args: { name: NAME },
  options: {
    scope: defineWordList('scope', 'what the token allows (default: lists)', TOKEN_SCOPES),
    organization: defineTextList('name', `only these organizations${NAME_HINT}`),
    list: defineWordList('list', 'only these lists', LIST_NAMES),
  },
  formats: { json: 'print the token with what it allows as JSON' },
  examples: [
    'carbon-mirror tokens create shop --list warehouse retirements',
    'carbon-mirror tokens create acme --scope lists certificates --organization Acme',
  ],
  run: async (context, { name, scope, organization, list }) => {
    const grant = {
      name,
      scopes: scope ?? (['lists'] as const),
      organizationIds: organization === undefined ? null : await findOrganizationIds(context, organization),
      lists: list ?? DEFAULT_LISTS,
    };
    const fault = findGrantFault(grant);
    if (fault !== null) throw createUsageError(fault);
    const token = createToken(randomBytes);
    const { tokens } = await context.openInbox();
    if (!(await tokens.create(grant, hashToken(token))))
      throw createUsageError(
        `There is already a token named ${name}, which may be revoked.`,
        'Choose another name. "carbon-mirror tokens list" shows all.',
      );
    if (context.format === 'json')
      return await context.printJson({ ...toTokenRow({ ...grant, ...NEW }), token });
    await context.printLines(token);
    context.printNotice('Store the token now: it cannot be shown again.');
  },
});

const NEW = { createdAt: null, revokedAt: null, lastUsedAt: null } as const;

const list = defineCommand({
  summary: 'List tokens without their secrets',
  formats: ROW_FORMATS,
  run: async context => {
    const { tokens } = await context.openInbox();
    const rows = (await tokens.list()).map(toTokenRow);
    await context.printRows(COLUMNS, rows, { emptyMessage: 'No tokens.' });
  },
});

const revoke = defineCommand({
  summary: 'Revoke a token',
  details: 'Running processes refuse the token within ten seconds.',
  args: { name: NAME },
  formats: { json: 'print the result as JSON' },
  run: async (context, { name }) => {
    const { tokens } = await context.openInbox();
    if (!(await tokens.revoke(name)))
      throw createNotFoundError(`No valid token is named ${name}.`, '"carbon-mirror tokens list" shows all.');
    await context.printResult({ name, revoked: true }, `Revoked the token ${name}.`);
  },
});

export const TOKENS: CommandGroup = {
  summary: 'Create and revoke tokens of the HTTP API',
  examples: [
    'carbon-mirror tokens create shop',
    'carbon-mirror tokens list',
    'carbon-mirror tokens revoke shop',
  ],
  commands: { create, list, revoke },
};

const COLUMNS = ['name', 'scopes', 'organizations', 'lists', 'created_at', 'revoked_at', 'last_used_at'];

/** Converts an API token to an output row: its name, permissions and dates, but not its secret. */
function toTokenRow(
  token: Omit<StoredToken, 'id' | 'createdAt'> & { readonly createdAt: string | null },
): Readonly<Record<string, string | null>> {
  return {
    name: token.name,
    scopes: token.scopes.join(', '),
    organizations: token.organizationIds === null ? 'all' : token.organizationIds.join(', '),
    lists: token.lists.join(', '),
    created_at: token.createdAt,
    revoked_at: token.revokedAt,
    last_used_at: token.lastUsedAt,
  };
}

/** Returns the ids of organizations that are given by name or id, without duplicates. */
async function findOrganizationIds(context: CommandContext, names: readonly string[]): Promise<string[]> {
  const reader = await context.openReader();
  const ids: string[] = [];
  for (const name of names) ids.push(await findOrganizationId(reader, name));
  return [...new Set(ids)];
}

/**
 * Defines an option that accepts one or more of the given words. Differences in case, hyphens, underscores and spaces are ignored.
 * Any other word is a usage error.
 */
function defineWordList<const Word extends string>(
  placeholder: string,
  description: string,
  words: readonly Word[],
): CommandParameter<Word[] | undefined> {
  const { parse, ...option } = defineTextList(placeholder, `${description}: ${words.join(', ')}`);
  const parseWord = (text: string): Word => {
    const word = findSpelling(text, words);
    if (word !== null) return word;
    throw createUsageError(describeWrongWord(text, words));
  };
  return { ...option, parse: (rawValues, io) => parse(rawValues, io)?.map(parseWord) };
}
