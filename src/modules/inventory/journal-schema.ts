import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { CostEntry } from './schema.ts'

/** A change of the cost of goods that no journal has yet, with the documents that its movement belongs to. */
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
  /**
   * The business time of the entry, and the same in microseconds. All entries of one
   * transaction have the same time.
   */
  happened_at: Timestamp,
  at_us: Type.Integer(),
})
export type UnpostedEntry = Static<typeof UnpostedEntry>
