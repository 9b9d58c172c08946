/** The version of this package. A test compares it with package.json, which the published client cannot read everywhere. */
const CLIENT_VERSION = '0.1.0';

/** The User-Agent of a client that sets no other. */
export const DEFAULT_USER_AGENT = `carbon-mirror/${CLIENT_VERSION}`;
