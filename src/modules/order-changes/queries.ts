import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import type { OrderTerms } from '../orders/terms-schema.ts'

/**
 * Claims the order for one operation, with its plan. The claim of the order has no time limit: the idempotency key
 * that reaches its recovery point in the same transaction is resumed until the operation has ended. Returns 0 if
 * another operation has the order.
 */
export const beginOperation = (
  tx: Tx,
  orderId: string,
  operationId: string,
  plan: Record<string, unknown>,
) =>
  tx.run(sql`
    update orders
       set operation_id = ${operationId}, operation = ${JSON.stringify(plan)}
     where tenant_ref = ${tx.tenant} and id = ${orderId} and operation_id is null`)

export const endOperation = (tx: Tx, orderId: string, operationId: string) =>
  tx.run(sql`
    update orders
       set operation_id = null, operation = null
     where tenant_ref = ${tx.tenant} and id = ${orderId} and operation_id = ${operationId}`)

export interface NewTotals {
  subtotal_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  pricing: OrderTerms
}

export const writeTotals = (tx: Tx, orderId: string, totals: NewTotals) =>
  tx.run(sql`
    update orders
       set subtotal_cents = ${totals.subtotal_cents}, discount_cents = ${totals.discount_cents},
           shipping_cents = ${totals.shipping_cents}, tax_cents = ${totals.tax_cents},
           total_cents = ${totals.total_cents}, pricing = ${JSON.stringify(totals.pricing)}
     where tenant_ref = ${tx.tenant} and id = ${orderId}`)

/** Writes how the store reaches the shopper of an order. */
export const writeContact = (
  tx: Tx,
  orderId: string,
  contact: Pick<OrderRow, 'ship_to' | 'email' | 'customer_name'>,
) =>
  tx.run(sql`
    update orders
       set ship_to = ${contact.ship_to === null ? null : JSON.stringify(contact.ship_to)},
           email = ${contact.email}, customer_name = ${contact.customer_name}
     where tenant_ref = ${tx.tenant} and id = ${orderId}`)

export type EditedLine = Pick<
  OrderItem,
  'id' | 'quantity' | 'line_total_cents' | 'discount_cents' | 'tax_cents' | 'shipping_cents'
>

/**
 * Writes the lines of an edit, and by how much each has changed. The change has the reference of the edit's
 * journal, so that reports know the change behind a journal.
 */
export const writeLines = (
  tx: Tx,
  { order_id, change_id }: { order_id: string; change_id: string },
  lines: readonly EditedLine[],
) =>
  tx.run(sql`
    with edited as (
      select *
        from jsonb_to_recordset(${JSON.stringify(lines)})
             as l (id uuid, quantity int, line_total_cents bigint, discount_cents bigint,
                   tax_cents bigint, shipping_cents bigint)
    ), written as (
      update order_items o
         set quantity = l.quantity, line_total_cents = l.line_total_cents,
             discount_cents = l.discount_cents, tax_cents = l.tax_cents,
             shipping_cents = l.shipping_cents
        from edited l
       where o.tenant_ref = ${tx.tenant} and o.id = l.id
    )
    insert into order_line_changes (tenant_ref, order_id, order_item_id, change_id, quantity,
                                    line_total_cents, discount_cents, tax_cents, shipping_cents)
    select ${tx.tenant}, ${order_id}, o.id, ${change_id}, l.quantity - o.quantity,
           l.line_total_cents - o.line_total_cents, l.discount_cents - o.discount_cents,
           l.tax_cents - o.tax_cents, l.shipping_cents - o.shipping_cents
      from edited l
      join order_items o on o.tenant_ref = ${tx.tenant} and o.id = l.id
     where (l.quantity, l.line_total_cents, l.discount_cents, l.tax_cents, l.shipping_cents)
           is distinct from (o.quantity, o.line_total_cents, o.discount_cents, o.tax_cents,
                             o.shipping_cents)`)
