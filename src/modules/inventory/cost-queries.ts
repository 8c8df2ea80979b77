import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { VariantCost } from './cost-schema.ts'

/**
 * The costs are kept by a trigger of the movements (`fd_value_movement`); late costs are added here. Why a trigger:
 * decision 0039.
 */

export const lockCosts = (tx: Tx, variant_ids: readonly string[]) =>
  tx.many(
    VariantCost,
    sql`
    select variant_id, units, value_cents, arrived
      from inventory_costs
     where tenant_ref = ${tx.tenant} and variant_id = any (${variant_ids}::uuid[])
     order by variant_id
       for update`,
  )

interface AddedCost {
  variant_id: string
  on_hand_cents: number
  sold_cents: number
}

/** Adds late costs to the costs of variants. Each variant may occur once. */
export const addCosts = (tx: Tx, purchase_order_id: string, costs: readonly AddedCost[]) =>
  tx.run(sql`
    with added as (
      select * from unnest(${costs.map((each) => each.variant_id)}::uuid[],
                           ${costs.map((each) => each.on_hand_cents)}::bigint[],
                           ${costs.map((each) => each.sold_cents)}::bigint[])
                    as a (variant_id, on_hand_cents, sold_cents)
    ),
    valued as (
      update inventory_costs c
         set value_cents = fd_stock_value(c.value_cents, a.on_hand_cents),
             last_value_cents = case when c.units > 0 then c.value_cents + a.on_hand_cents
                                     else c.last_value_cents end,
             last_units = case when c.units > 0 then c.units else c.last_units end,
             updated_at = fd_now()
        from added a
       where c.tenant_ref = ${tx.tenant} and c.variant_id = a.variant_id
      returning c.variant_id, c.units, c.value_cents
    )
    insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents,
                                        value_cents, sold_cents, units_after, value_after_cents,
                                        purchase_order_id)
    select ${tx.tenant}, variant_id, 'landed_cost', 0, a.on_hand_cents + a.sold_cents,
           a.on_hand_cents, a.sold_cents, v.units, v.value_cents, ${purchase_order_id}::uuid
      from valued v
      join added a using (variant_id)
     order by variant_id`)
