import express, { type Request, type Response, Router } from 'express';
import type { SandboxRegistry } from '../registry/registry.js';
import { NOTICE_STYLE_SOURCE, renderNoticePage } from '../../text/notice-page.js';
import { forbidden, requireFound } from './api-errors.js';

const PATH = '/apps/:nameId/installations/new';

/** Creates the router of the web page where an administrator installs an app. */
export function createInstallPageRouter(registry: SandboxRegistry, allowedHosts: readonly string[]): Router {
  const router = Router();
  router.use(PATH, (req, _res, next) => {
    assertSameOrigin(req, allowedHosts);
    next();
  });
  router.get(PATH, (req, res) => {
    const form = readInstallForm(req, req.query);
    const { name } = findAppToInstall(registry, form);
    sendHtmlPage(res, `Install ${escapeHtml(name)}`, renderInstallForm(registry, form));
  });
  router.post(PATH, express.urlencoded({ extended: false, limit: '8kb' }), (req, res) => {
    const form = readInstallForm(req, req.body);
    const { appId, callbackUrl } = findAppToInstall(registry, form);
    const installationId = installOnce(registry, appId, form.organizationId);
    if (callbackUrl === null)
      return sendHtmlPage(
        res,
        'Installed',
        `<p>Installed as <code>${escapeHtml(installationId)}</code>.</p>`,
      );
    return res.redirect(302, addInstallationToUrl(callbackUrl, installationId, form.state));
  });
  return router;
}

/** The fields of the install page. */
interface InstallForm {
  /** The app's name in URLs. */
  readonly nameId: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly organizationId: string;
}

/** Reads the fields of the install form from the query or the form body. Missing fields become empty strings. */
function readInstallForm(req: Request, queryOrBody: unknown): InstallForm {
  const values = new Map(
    Object.entries(typeof queryOrBody === 'object' && queryOrBody !== null ? queryOrBody : {}),
  );
  const text = (name: string) => {
    const value: unknown = values.get(name);
    return typeof value === 'string' ? value : '';
  };
  return {
    nameId: String(req.params['nameId']),
    state: text('state'),
    redirectUri: text('redirectUri'),
    organizationId: text('organizationId'),
  };
}

/** Finds the app to install and the callback URL for its redirect. Throws a 404 error for an unknown app. */
function findAppToInstall({ apps }: SandboxRegistry, { nameId, redirectUri }: InstallForm) {
  // Like the registry, use the first URL if the requested URL is not on the app's list.
  const app = requireFound(
    apps.list().find(each => each.nameId === nameId),
    'App',
  );
  const [defaultUrl = null] = app.callbackUrls;
  const callbackUrl = app.callbackUrls.includes(redirectUri) ? redirectUri : defaultUrl;
  return { appId: app.id, name: app.name, callbackUrl };
}

/** Installs an app on an organization unless it is already installed there. Returns the installation's id. */
function installOnce({ installations }: SandboxRegistry, appId: string, organizationId: string): string {
  const existing = installations
    .listAll()
    .find(
      ({ appId: app, organization, state }) =>
        app === appId && organization.id === organizationId && state !== 'uninstalled',
    );
  return existing?.id ?? installations.install(appId, organizationId).id;
}

/** Adds the installation's id, the event `installed` and the app's parameter `state` (unless it is empty) to the callback URL. */
function addInstallationToUrl(callbackUrl: string, installationId: string, state: string): string {
  const url = new URL(callbackUrl);
  url.searchParams.set('installationId', installationId);
  if (state !== '') url.searchParams.set('state', state);
  url.searchParams.set('event', 'installed');
  return url.href;
}

/** Host names that DNS rebinding cannot point elsewhere: localhost and IP addresses. */
const REBINDING_SAFE_HOST = /^(localhost|[a-z\d.-]+\.localhost|\d+(\.\d+){3}|\[[\d.:a-f]+\])$/;

/** Throws a 403 error if another site sent the request or the host is neither local nor in `allowedHosts`. */
function assertSameOrigin(req: Request, allowedHosts: readonly string[]): void {
  // Compare hosts but not protocols, because a proxy may terminate TLS.
  const origin = req.get('origin');
  const pageUrl = parseUrl(origin ?? `http://${req.get('host')}`);
  const ownUrl = parseUrl(`${pageUrl?.protocol ?? 'http:'}//${req.get('host')}`);
  const isKnownHost =
    ownUrl !== null && (REBINDING_SAFE_HOST.test(ownUrl.hostname) || allowedHosts.includes(ownUrl.hostname));
  // An unknown host name may be a DNS rebinding attack.
  if (!isKnownHost)
    throw forbidden('The install page does not accept this host name. Add it with "sandbox start --name".');
  if (pageUrl?.host !== ownUrl.host) throw forbidden('Only the install page itself may send this form');
}

/** Parses a URL. Returns null if the text is not a valid URL. */
function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** Renders the HTML form where an administrator chooses the organization. */
function renderInstallForm(registry: SandboxRegistry, form: InstallForm): string {
  const options = registry.organizations
    .listAll()
    .map(({ id, fullName }) => `<option value="${escapeHtml(id)}">${escapeHtml(fullName)}</option>`)
    .join('');
  return `<p>This is a sandbox registry: everybody who opens this page is an administrator of every organization.</p>
<form method="post">
<input type="hidden" name="state" value="${escapeHtml(form.state)}">
<input type="hidden" name="redirectUri" value="${escapeHtml(form.redirectUri)}">
<select name="organizationId" aria-label="Organization">${options}</select> <button>Install</button>
</form>
<ol><li>Install <span>The app may read the organization and its credits, as its permissions say.</span></li>
<li>Return <span>The registry sends you back to the app, and a webhook to its receiver.</span></li></ol>`;
}

/** Sends an HTML page. The page's Content-Security-Policy forbids frames, scripts and all styles but its own. */
function sendHtmlPage(res: Response, heading: string, content: string): void {
  res.set(
    'Content-Security-Policy',
    `default-src 'none'; style-src ${NOTICE_STYLE_SOURCE}; form-action *; frame-ancestors 'none'`,
  );
  res
    .type('html')
    .send(renderNoticePage({ title: `${heading} – sandbox`, brand: 'Sandbox registry', heading, content }));
}

/** Escapes the special characters of HTML: `a < b` → `a &#60; b`. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
