import type pg from 'pg'

/**
 * Ships all units of an order, by SQL: for tests in which the order is locked, or in a state in which
 * the API would not ship it. Its status is left to the test.
 */
export async function shipBySql(client: pg.ClientBase, order_id: string): Promise<void> {
  await client.query(
    `with parcel as (
       insert into fulfillments (tenant_ref, order_id, number, fulfillment_number, location_id, status,
                                 shipped_at, created_by)
       select tenant_ref, id, 1, order_number || '-F1', 'default', 'shipped', now(), 'test'
         from orders where id = $1
       returning tenant_ref, id, order_id
     ), packed as (
       insert into fulfillment_items (tenant_ref, fulfillment_id, order_item_id, position, variant_id,
                                      sku, product_name, quantity, stock_quantity)
       select i.tenant_ref, p.id, i.id, i.position, i.variant_id, i.sku, i.product_name, i.quantity, 0
         from parcel p join order_items i on i.tenant_ref = p.tenant_ref and i.order_id = p.order_id
     ), left_queue as (
       update orders set has_work = false where id = $1
     )
     update order_items set shipped_quantity = quantity where order_id = $1`,
    [order_id],
  )
}
