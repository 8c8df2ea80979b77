import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as webhooks from '../webhooks/service.ts'
import * as notes from './note-queries.ts'
import { findOrder, insertTimeline, listCharges, listItems } from './queries.ts'
import * as reads from './read-queries.ts'
import { listRefunds } from './refund-queries.ts'
import type { MerchantOrder, Note, OrderRow } from './schema.ts'
import * as orders from './service.ts'

/** What merchants and shoppers see of orders, and what moves no money. */

export async function list(db: Db, filters: reads.OrderFilters, page: Page) {
  const [found, { total }] = await Promise.all([
    reads.listOrders(db, filters, page),
    reads.countOrders(db, filters),
  ])
  return { orders: found, total, ...page }
}

/** A customer's own orders, as the customer sees them. */
export async function listOfCustomer(db: Db, customer_ref: string, page: Page) {
  const found = await list(db, { customer_ref }, page)
  return { ...found, orders: found.orders.map(orders.forShopper) }
}

const partsOf = (db: Db, orderId: string) =>
  Promise.all([listItems(db, orderId), listCharges(db, orderId), listRefunds(db, orderId)])

/** One order with all that hangs on it. */
export async function read(db: Db, id: string) {
  const order = await orders.get(db, id)
  const [[items, charges, refunds], timeline, written] = await Promise.all([
    partsOf(db, order.id),
    notes.listTimeline(db, order.id),
    notes.listNotes(db, order.id),
  ])
  return {
    order: orders.forMerchant(order),
    items,
    charges: charges.map(orders.shownCharge),
    refunds: refunds.map(orders.shownRefund),
    fulfillments: [],
    returns: [],
    timeline,
    notes: written,
  }
}

/** Another customer's order is as little there as another store's. */
export async function readForShopper(db: Db, id: string, customer_ref: string | undefined) {
  const order = isUuid(id) ? await findOrder(db, id) : null
  if (order === null || order.customer_ref !== customer_ref) throw new ApiError('order_not_found')
  const [items, charges, refunds] = await partsOf(db, order.id)
  return {
    order: orders.forShopper(order),
    items,
    charges: charges.map(orders.shownCharge),
    refunds: refunds.map(orders.refundForShopper),
    fulfillments: [],
  }
}

export async function readTimeline(db: Db, id: string) {
  const order = await orders.get(db, id)
  return { timeline: await notes.listTimeline(db, order.id) }
}

export function addNote(
  db: TenantDb,
  { name: actor }: audit.Actor,
  id: string,
  note: string,
): Promise<Note> {
  return db.transaction('orders: add a note', async (tx) => {
    const order = await orders.get(tx, id)
    const written = await notes.insertNote(tx, order.id, { note, actor })
    // Its words can be erased, so that they stand in the note alone.
    await insertTimeline(tx, order.id, { type: 'noted', actor, data: { note_id: written.id } })
    return written
  })
}

/** Keeps an order from being shipped until it is released. */
export function hold(
  db: TenantDb,
  { name: by }: audit.Actor,
  id: string,
  reason: string | null | undefined,
): Promise<MerchantOrder> {
  return act(db, id, 'hold', async (tx, order) => {
    const at = new Date().toISOString()
    const held = await orders.change(tx, order, { hold: { reason: reason ?? 'merchant', by, at } })
    await insertTimeline(tx, order.id, { type: 'held', actor: by })
    await webhooks.emit(tx, {
      type: 'commerce.order.held.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: orders.forMerchant(held) },
    })
    return held
  })
}

/** Somebody has begun to work on it. */
export function process(
  db: TenantDb,
  { name: actor }: audit.Actor,
  id: string,
): Promise<MerchantOrder> {
  return act(db, id, 'process', async (tx, order) => {
    const changed = await orders.change(tx, order, { processing_at: new Date().toISOString() })
    await insertTimeline(tx, order.id, { type: 'processing', actor })
    return changed
  })
}

async function act(
  db: TenantDb,
  id: string,
  action: 'hold' | 'process',
  work: (tx: Tx, order: OrderRow) => Promise<OrderRow>,
): Promise<MerchantOrder> {
  return db.transaction(`orders: ${action}`, async (tx) => {
    const order = await orders.lock(tx, id)
    orders.requireAllowed(order, action)
    return orders.forMerchant(await work(tx, order))
  })
}

/** On the operator's word: a test order is left out of money reports. */
export function setTestFlag(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  is_test: boolean,
): Promise<MerchantOrder> {
  return db.transaction('orders: flag as a test', async (tx) => {
    const order = await orders.lock(tx, id)
    if (order.is_test === is_test) return orders.forMerchant(order)
    await notes.setTestFlag(tx, order.id, is_test)
    await Promise.all([
      insertTimeline(tx, order.id, { type: 'test_flag', actor: actor.name, data: { is_test } }),
      audit.record(tx, actor, {
        action: 'order.test_flag',
        entity: `order:${order.id}`,
        before: { is_test: order.is_test },
        after: { is_test },
      }),
    ])
    return orders.forMerchant(await orders.get(tx, order.id))
  })
}
