import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { CostEntry } from './schema.ts'

/** A change of what goods have cost that no journal has yet, with what its movement belongs to. */
export const UnpostedEntry = Type.Object({
  ...Type.Pick(CostEntry, [
    'id',
    'kind',
    'variant_id',
    'cost_cents',
    'value_cents',
    'sold_cents',
    'movement_id',
    'order_id',
    'purchase_order_id',
  ]).properties,
  fulfillment_id: Nullable(Id),
  return_id: Nullable(Id),
  count_id: Nullable(Id),
  /** Business time, and the same in microseconds, which the entries of one transaction have in common. */
  happened_at: Timestamp,
  at_us: Type.Integer(),
})
export type UnpostedEntry = Static<typeof UnpostedEntry>
