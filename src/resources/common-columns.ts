import type { Amount, ProjectReference } from '../registry/model.js';
import { type MirrorColumn, column, readableText } from './columns.js';

const ENDING_YEAR = /-(\d{4})$/;

/** Warehouse credits come without their vintage, but their serialization ends with it. */
export function vintageOf(item: { vintage: string | null; serialization: string | null }): string | null {
  return readableText(item.vintage ?? ENDING_YEAR.exec(item.serialization ?? '')?.[1] ?? null);
}

export function amountColumns<Item extends { amount: Amount }>(): MirrorColumn<Item>[] {
  return [
    column('amount', item => item.amount.value),
    column('amount_micro', item => item.amount.micro),
    column('amount_exact', item => readableText(item.amount.exact)),
    column('fault', item => readableText(item.amount.fault)),
  ];
}

export function projectColumns<Item extends { project: ProjectReference | null }>(): MirrorColumn<Item>[] {
  return [
    column('project_id', item => readableText(item.project?.id ?? null)),
    column('project_name', item => readableText(item.project?.fullName ?? null)),
  ];
}
