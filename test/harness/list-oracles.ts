import { assertNone, type Oracles, type Queried } from './check-oracles.ts'

/**
 * Columns that lists are filtered and ordered by, and whose values follow from other rows: each statement
 * lists the rows in all stores where the two differ, and must return none.
 */
export const LIST_ORACLES: Oracles = {
  'an order line with another time than its order': `
    select i.tenant_ref, i.id
      from order_items i
      join orders o on o.tenant_ref = i.tenant_ref and o.id = i.order_id
     where i.ordered_at <> o.created_at`,

  'a variant that is low on stock and not marked so, or the reverse': `
    select v.tenant_ref, v.id, v.is_low
      from variants v
      left join inventory_settings s on s.tenant_ref = v.tenant_ref and s.variant_id = v.id
      left join (select tenant_ref, variant_id, sum(on_hand - allocated) as unsold
                   from inventory_levels group by tenant_ref, variant_id) l
        on l.tenant_ref = v.tenant_ref and l.variant_id = v.id
     where v.is_low <> coalesce(s.track_inventory
                                and coalesce(l.unsold, 0) <= s.low_stock_threshold, false)`,

  'an asset that is used and not marked so, or the reverse': `
    select a.tenant_ref, a.sha256, a.is_used
      from assets a
     where a.is_used <> exists (select from asset_refs r
                                 where r.tenant_ref = a.tenant_ref and r.sha256 = a.sha256)`,

  'a product of a collection that is on sale and not marked so, or the reverse': `
    select m.tenant_ref, m.collection_id, m.product_id, m.on_sale
      from collection_products m
      join products p on p.tenant_ref = m.tenant_ref and p.id = m.product_id
     where m.on_sale <> (p.status = 'active')`,

  'a queued delivery with another time than its own': `
    select q.tenant_ref, q.delivery_id
      from webhook_queue q
      join webhook_deliveries d on d.tenant_ref = q.tenant_ref and d.id = q.delivery_id
     where q.created_at <> d.created_at`,
}

export const assertListsAgree = (superuser: Queried) => assertNone(superuser, LIST_ORACLES)
