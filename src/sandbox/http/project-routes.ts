import { Router } from 'express';
import { badRequest } from './errors.js';
import { answerPage } from './lists.js';
import type { Registry } from '../parts/registry.js';
import { sendCertificate } from './send.js';

/** Part D: open to any access token, whatever its permissions. */
export function createProjectRoutes({ access, projects, retirements }: Registry): Router {
  const router = Router();

  router.get('/projects', (req, res) => {
    access.withAnyToken(req);
    answerPage(req, res, (query, hidden) => projects.list(query, hidden));
  });

  router.get('/projects/find', (req, res) => {
    access.withAnyToken(req);
    res.json(projects.findPublic(req.query));
  });

  router.get('/projects/:projectId', (req, res) => {
    access.withAnyToken(req);
    res.json(projects.getPublic(req.params.projectId));
  });

  router.get('/retirements', (req, res) => {
    access.withAnyToken(req);
    const { id } = req.query;
    if (typeof id !== 'string' || id === '') throw badRequest('id is needed');
    res.json(retirements.get(id));
  });

  router.get('/retirements/:retirementId/pdf', (req, res) => {
    access.withAnyToken(req);
    const { retirementId } = req.params;
    sendCertificate(res, retirementId, retirements.certificate(retirementId));
  });

  return router;
}
