import { Router } from 'express';
import { answerPage } from './lists.js';
import type { Registry } from '../parts/registry.js';
import { sendCertificate, sendPieces } from './send.js';
import { readAction } from '../parts/transactions.js';

/** The parts of section C that read and change an organization itself. */
export function createOrganizationRoutes(registry: Registry): Router {
  const { access, organizations, retirements, credits } = registry;
  const router = Router();

  router.get('/organizations/:organizationId', (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_info:read');
    res.json(organizations.get(organizationId));
  });

  router.get('/organizations/:organizationId/addresses', (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_info:read');
    res.json(organizations.addresses(organizationId));
  });

  router.get('/organizations/:organizationId/members', (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_members:read');
    res.json(organizations.members(organizationId));
  });

  router.get('/organizations/:organizationId/retirements', (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_info:read');
    answerPage(req, res, (query, hidden) => retirements.list(organizationId, query, hidden));
  });

  router.get('/organizations/:organizationId/retirements/:retirementId', (req, res) => {
    const { organizationId, retirementId } = req.params;
    access.onOrganization(req, organizationId, 'organization_info:read');
    res.json(retirements.get(retirementId, organizationId));
  });

  router.get('/organizations/:organizationId/retirements/:retirementId/pdf', (req, res) => {
    const { organizationId, retirementId } = req.params;
    access.onOrganization(req, organizationId, 'organization_info:read');
    sendCertificate(res, retirementId, retirements.certificate(retirementId, organizationId));
  });

  router.get('/organizations/:organizationId/friendbot', (req, res) => {
    const { organizationId } = req.params;
    access.withAnyTokenOf(req, organizationId);
    res.json(credits.friendbot(organizationId));
  });

  return router;
}

/** The parts of section C that read and move credits. */
export function createHoldingRoutes(registry: Registry): Router {
  const { access, holdings, requests } = registry;
  const router = Router();

  router.get('/organizations/:organizationId/warehouse/inventory', async (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_warehouse:read');
    await sendPieces(res, holdings.list(organizationId, 'warehouse'));
  });

  router.get('/organizations/:organizationId/inventory', async (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_inventory:read');
    await sendPieces(res, holdings.list(organizationId, 'inventory'));
  });

  router.get('/organizations/:organizationId/inventory/requests', (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_inventory:read');
    answerPage(req, res, (query, hidden) => requests.list(organizationId, query, hidden));
  });

  router.get('/organizations/:organizationId/inventory/requests/:requestId', (req, res) => {
    const { organizationId, requestId } = req.params;
    access.onOrganization(req, organizationId, 'organization_inventory:read');
    res.json(requests.get(organizationId, requestId));
  });

  router.post('/organizations/:organizationId/inventory/requests/:action', (req, res) => {
    const { organizationId } = req.params;
    const { appId } = access.onOrganization(req, organizationId, 'organization_inventory:read_request');
    const action = readAction(req.params.action);
    res.json(requests.create(organizationId, appId, { action, body: req.body }));
  });

  return router;
}
