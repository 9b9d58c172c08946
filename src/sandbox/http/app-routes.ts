import { Router } from 'express';
import type { Registry } from '../parts/registry.js';
import { answerPage } from './lists.js';

/** Parts A and B: what an app does as itself, with its JWT, and what a token does to itself. */
export function createAppRoutes({ access, tokens, installations, organizations }: Registry): Router {
  const router = Router();

  router.post('/app/accessTokens', (req, res) => {
    res.json(tokens.mint(access.asApp(req)));
  });

  router.post('/app/installations/:installationId/accessTokens', (req, res) => {
    const appId = access.asApp(req);
    res.json(tokens.mint(appId, installations.getActive(appId, req.params.installationId)));
  });

  router.post('/app/create/user/organization', (req, res) => {
    res.json(organizations.createForApp(access.asApp(req), req.body));
  });

  router.get('/app/installations', (req, res) => {
    const appId = access.asApp(req);
    answerPage(req, res, (query, hidden) => installations.list(appId, query, hidden));
  });

  router.get('/app/installations/:installationId', (req, res) => {
    res.json(installations.get(access.asApp(req), req.params.installationId));
  });

  router.get('/app/organizations/:organizationId/installation', (req, res) => {
    res.json(installations.ofOrganization(access.asApp(req), req.params.organizationId));
  });

  router.delete('/app/installations/token', (req, res) => {
    tokens.revoke(access.withAnyToken(req).tokenId);
    res.json({});
  });

  return router;
}
