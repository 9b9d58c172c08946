import { createAddressList } from '../../text/address-list.js';
import { isLoopbackHost } from '../../text/loopback.js';
import type { Environment, Role, SettingParser } from './define-setting.js';
import { findSecretFault } from './setting-parsers.js';
import type { SettingsFault } from './settings-error.js';

/** The addresses or the Unix socket from which the proxy connects to the console. */
export type ProxyOrigin = { readonly socket: string } | { readonly addresses: readonly string[] };

const REQUIRED = ['CONSOLE_PROXY_HEADER', 'CONSOLE_PROXY_FROM', 'CONSOLE_PROXY_SECRET'];

/** Parses the path of a Unix socket, or addresses and ranges separated by commas. */
export const parseProxyOrigin: SettingParser<ProxyOrigin | null> = async text => {
  if (text === undefined) return { value: null };
  if (text.startsWith('/') && !text.includes('\0')) return { value: { socket: text } };
  const addresses = text.split(',').map(range => range.trim());
  try {
    createAddressList(addresses);
    return { value: { addresses } };
  } catch {
    return { expected: 'addresses or ranges such as 10.1.0.7 or fd00::/8, or the path of a Unix socket' };
  }
};

/** Checks the secret that the proxy sends, and refuses one that can be guessed. */
export const parseProxySecret: SettingParser<string | null> = async text => {
  if (text === undefined) return { value: null };
  const expected = findSecretFault(text, 'number 1 of 1');
  return expected === null ? { value: text } : { expected };
};

/**
 * Returns a fault for each missing setting of a partly configured sign-in proxy, and for a console that other machines can
 * reach without a proxy.
 */
export function findProxyFaults(env: Environment, role: Role): SettingsFault[] {
  if (role !== 'console') return [];
  const isSet = (name: string) => Boolean(env[name] ?? env[`${name}_FILE`]);
  const missing = REQUIRED.filter(name => !isSet(name));
  if (missing.length === 0) return [];
  const host = env['CONSOLE_HOST'] || '127.0.0.1';
  const faults: SettingsFault[] = [];
  if (missing.length < REQUIRED.length || isSet('CONSOLE_ACTORS_FILE')) {
    const problem = 'it is not set, but other settings of the sign-in proxy are';
    faults.push(
      ...missing.map(name => ({ name, expected: `a value, with ${REQUIRED.join(', ')}`, problem })),
    );
  }
  if (!isLoopbackHost(host)) {
    const expected = 'a loopback address, unless visitors sign in through a proxy';
    faults.push({ name: 'CONSOLE_HOST', expected, problem: `${missing.join(', ')} are not set` });
  }
  return faults;
}
