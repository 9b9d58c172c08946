import { Router } from 'express';
import { answerPage } from './lists.js';
import type { Registry } from '../parts/registry.js';
import { readAction } from '../parts/transactions.js';

/** The reservation queue of section C. */
export function createReservationRoutes({ access, reservations }: Registry): Router {
  const router = Router();
  const queue = '/organizations/:organizationId/warehouse/inventory/reservations' as const;

  router.get(queue, (req, res) => {
    const { organizationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_warehouse:read');
    answerPage(req, res, (query, hidden) => reservations.list(organizationId, query, hidden));
  });

  router.post(queue, (req, res) => {
    const { organizationId } = req.params;
    const { appId } = access.onOrganization(req, organizationId, 'organization_warehouse:write');
    res.json(reservations.reserve(organizationId, appId, req.body));
  });

  router.get(`${queue}/:reservationId`, (req, res) => {
    const { organizationId, reservationId } = req.params;
    access.onOrganization(req, organizationId, 'organization_warehouse:read');
    res.json(reservations.get(organizationId, reservationId));
  });

  router.delete(`${queue}/:reservationId`, (req, res) => {
    const { organizationId, reservationId } = req.params;
    const { appId } = access.onOrganization(req, organizationId, 'organization_warehouse:write');
    res.json(reservations.cancel(organizationId, appId, reservationId));
  });

  router.post(`${queue}/:reservationId/:action`, (req, res) => {
    const { organizationId, reservationId: id } = req.params;
    const { appId } = access.onOrganization(req, organizationId, 'organization_warehouse:write');
    const action = readAction(req.params.action);
    res.json(reservations.finish(organizationId, appId, { id, action, body: req.body }));
  });

  return router;
}
