import express, { type Request, type Response, Router } from 'express';
import type { Registry } from '../registry/registry.js';
import { forbidden, found } from './errors.js';

const PATH = '/apps/:nameId/installations/new';

/** What the registry's web pages do: an administrator picks the organization and is sent back to the app. */
export function createInstallPage(registry: Registry, names: readonly string[]): Router {
  const router = Router();
  router.use(PATH, (req, _res, next) => {
    demandOwnPage(req, names);
    next();
  });
  router.get(PATH, (req, res) => sendPage(res, choicePage(registry, askedOf(req, req.query))));
  router.post(PATH, express.urlencoded({ extended: false, limit: '8kb' }), (req, res) => {
    const asked = askedOf(req, req.body);
    const { appId, callback } = readApp(registry, asked);
    const installationId = installOn(registry, appId, asked.organizationId);
    if (callback === null) return sendPage(res, `<p>Installed as ${escape(installationId)}.</p>`);
    return res.redirect(302, addressOf(callback, installationId, asked.state));
  });
  return router;
}

interface Asked {
  readonly nameId: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly organizationId: string;
}

function askedOf(req: Request, given: unknown): Asked {
  const values = new Map(Object.entries(typeof given === 'object' && given !== null ? given : {}));
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

/** An address that is not on the app's list is passed over without a word, as the registry does: the first of the list is taken. */
function readApp({ apps }: Registry, { nameId, redirectUri }: Asked) {
  const app = found(
    apps.list().find(each => each.nameId === nameId),
    'App',
  );
  const [usual = null] = app.callbackUrls;
  const callback = app.callbackUrls.includes(redirectUri) ? redirectUri : usual;
  return { appId: app.id, name: app.name, callback };
}

/** Where it is installed already nothing is done, and its id is told again. */
function installOn({ installations }: Registry, appId: string, organizationId: string): string {
  const there = installations
    .all()
    .find(
      ({ appId: app, organization, state }) =>
        app === appId && organization.id === organizationId && state !== 'uninstalled',
    );
  return there?.id ?? installations.install(appId, organizationId).id;
}

function addressOf(callback: string, installationId: string, state: string): string {
  const url = new URL(callback);
  url.searchParams.set('installationId', installationId);
  if (state !== '') url.searchParams.set('state', state);
  url.searchParams.set('event', 'installed');
  return url.href;
}

/** No page can have these as its own name and lie elsewhere. */
const NEVER_BENT = /^(localhost|[a-z\d.-]+\.localhost|\d+(\.\d+){3}|\[[\d.:a-f]+\])$/;

/** No page of another site may press the button, nor one whose name was bent to this machine. A proxy may speak TLS before it. */
function demandOwnPage(req: Request, names: readonly string[]): void {
  const origin = req.get('origin');
  const page = readUrl(origin ?? `http://${req.get('host')}`);
  const own = readUrl(`${page?.protocol ?? 'http:'}//${req.get('host')}`);
  if (own === null || !(NEVER_BENT.test(own.hostname) || names.includes(own.hostname)))
    throw forbidden('The page does not go by this name: "sandbox start --name" tells it one');
  if (page?.host !== own.host) throw forbidden('Only the page itself may send this');
}

function readUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function choicePage(registry: Registry, asked: Asked): string {
  const { name } = readApp(registry, asked);
  const options = registry.organizations
    .all()
    .map(({ id, fullName }) => `<option value="${escape(id)}">${escape(fullName)}</option>`)
    .join('');
  return `<h1>Install ${escape(name)}</h1>
<p>A made-up registry: whoever opens this page is the administrator of every organization.</p>
<form method="post">
<input type="hidden" name="state" value="${escape(asked.state)}">
<input type="hidden" name="redirectUri" value="${escape(asked.redirectUri)}">
<select name="organizationId">${options}</select> <button>Install</button>
</form>`;
}

function sendPage(res: Response, content: string): void {
  res.set('Content-Security-Policy', "default-src 'none'; form-action *; frame-ancestors 'none'");
  res
    .type('html')
    .send(
      `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Sandbox</title>\n${content}\n</html>\n`,
    );
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
}
