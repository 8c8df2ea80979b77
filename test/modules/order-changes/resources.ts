import { ITEM } from '../../contract/ids.ts'
import type { Fixture, Resources } from '../../harness/resources.ts'
import { shipOrder } from '../fulfillment/resources.ts'
import { placeOrder } from '../orders/resources.ts'

/** The line of an order whose edit is previewed: one that is edited has the id `ITEM`. */
const PREVIEWED_ITEM = '77777777-7777-4777-8777-777777777777'

/** Places an order whose line has this id, which `BODIES` name. */
const placeWithItem =
  (item: string): Fixture =>
  async (merchant, app) => {
    const { id } = await placeOrder(merchant, app)
    const admin = await app.database.openAdmin()
    await admin.query('update order_items set id = $1 where order_id = $2', [item, id])
    return { id }
  }

export const resources: Resources = {
  fixtures: {
    'PATCH /v1/merchant/orders/:id': placeOrder,
    'POST /v1/merchant/orders/:id/preview': placeOrder,
    'POST /v1/merchant/orders/:id/refunds': placeOrder,
    'POST /v1/merchant/orders/:id/refunds/preview': placeOrder,
    'POST /v1/merchant/orders/:id/cancel': placeOrder,
    'POST /v1/merchant/orders/:id/cancel-remaining': async (merchant, app) => {
      const { order_id } = await shipOrder(merchant, app, 1)
      return { id: order_id }
    },
    'POST /v1/merchant/orders/:id/edit': placeWithItem(ITEM),
    'POST /v1/merchant/orders/:id/edit/preview': placeWithItem(PREVIEWED_ITEM),
  },
  bodies: {
    'PATCH /v1/merchant/orders/:id': { name: 'a canary' },
    'POST /v1/merchant/orders/:id/preview': { name: 'a canary' },
    'POST /v1/merchant/orders/:id/cancel-remaining': { reason: 'inventory', note: 'a canary' },
    'POST /v1/merchant/orders/:id/refunds': { amount_cents: 1, reason: 'a canary' },
    'POST /v1/merchant/orders/:id/refunds/preview': { amount_cents: 1 },
    'POST /v1/merchant/orders/:id/cancel': { reason: 'other', note: 'a canary' },
    'POST /v1/merchant/orders/:id/edit': { edits: [{ order_item_id: ITEM, quantity: 1 }] },
    'POST /v1/merchant/orders/:id/edit/preview': {
      edits: [{ order_item_id: PREVIEWED_ITEM, quantity: 1 }],
    },
  },
  rows: {
    refunds: `
    with item as (select order_id, id from order_items where tenant_ref = $1 limit 1),
         given as (insert into refunds (tenant_ref, refund_id, order_id, status, amount_cents,
                          product_cents, currency, actor)
                   select $1, gen_random_uuid(), order_id, 'succeeded', 1, 1, 'USD', 'x'
                     from item returning refund_id),
         tender as (insert into refund_tenders (tenant_ref, refund_id, charge_id, tender,
                           amount_cents, status)
                    select $1, refund_id, charge_id, 'card', 1, 'succeeded'
                      from given, charges where tenant_ref = $1 limit 1),
         unit as (insert into refund_items (tenant_ref, refund_id, order_item_id, quantity,
                         amount_cents)
                  select $1, refund_id, item.id, 1, 1 from given, item)
    insert into order_line_changes (tenant_ref, order_id, order_item_id, change_id, quantity,
                                    line_total_cents, discount_cents, tax_cents, shipping_cents)
    select $1, order_id, id, order_id, 1, 1, 0, 0, 0 from item`,
  },
}
