import type { Amount, ProjectReference } from '../registry/model.js';
import { type Column, column, text } from './columns.js';

const ENDING_YEAR = /-(\d{4})$/;

/** Warehouse credits come without their vintage, but their serialization ends with it. */
export function vintageOf(item: { vintage: string | null; serialization: string | null }): string | null {
  return text(item.vintage ?? ENDING_YEAR.exec(item.serialization ?? '')?.[1] ?? null);
}

export function amountColumns<Item extends { amount: Amount }>(): Column<Item>[] {
  return [
    column('amount', item => item.amount.value),
    column('amount_micro', item => item.amount.micro),
    column('amount_exact', item => text(item.amount.exact)),
    column('fault', item => text(item.amount.fault)),
  ];
}

export function projectColumns<Item extends { project: ProjectReference | null }>(): Column<Item>[] {
  return [
    column('project_id', item => text(item.project?.id ?? null)),
    column('project_name', item => text(item.project?.fullName ?? null)),
  ];
}
