import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as marketing from '../marketing/service.ts'
import * as webhooks from '../webhooks/service.ts'
import * as notes from './note-queries.ts'
import { findOrder, insertTimeline, listCharges, listItems } from './queries.ts'
import * as reads from './read-queries.ts'
import { listRefunds } from './refund-queries.ts'
import {
  type Attestation,
  MERCHANT_HOLD,
  type MerchantOrder,
  type Note,
  type OrderRow,
} from './schema.ts'
import * as orders from './service.ts'

/** What merchants and shoppers see of orders, and what moves no money. */

export async function list(db: Db, filters: reads.OrderFilters, page: Page) {
  const wanted = await withCode(db, filters)
  const [found, { total }] = await Promise.all([
    reads.listOrders(db, wanted, page),
    reads.countOrders(db, wanted),
  ])
  return { orders: found, total, ...page }
}

/** An order has its coupon's code as the merchant wrote it, and is looked for as a shopper types it. */
export async function withCode(db: Db, filters: reads.OrderFilters): Promise<reads.OrderFilters> {
  const { coupon_code } = filters
  if (coupon_code === undefined) return filters
  const coupon = await marketing.findForCheckout(db, coupon_code)
  return coupon === null ? filters : { ...filters, coupon_code: coupon.code }
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
    attestation: (order.pricing.attestation as Attestation | undefined) ?? null,
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

export function addNote(db: TenantDb, actor: audit.Actor, id: string, note: string): Promise<Note> {
  return db.transaction('orders: add a note', async (tx) => {
    const order = await orders.get(tx, id)
    const written = await notes.insertNote(tx, order.id, { note, actor: actor.name })
    // Its words can be erased, so that they stand in the note alone.
    const data = { note_id: written.id }
    await Promise.all([
      insertTimeline(tx, order.id, { type: 'noted', actor: actor.name, data }),
      audit.record(tx, actor, { action: 'order.noted', entity: `order:${order.id}`, after: data }),
    ])
    return written
  })
}

/** Keeps an order from being shipped until it is released. */
export function hold(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  reason: string | null | undefined,
): Promise<MerchantOrder> {
  const work: Work = async (tx, order) => {
    const { name: by } = actor
    const at = new Date().toISOString()
    const held = await orders.change(tx, order, {
      hold: { reason: reason ?? MERCHANT_HOLD, by, at },
    })
    await insertTimeline(tx, order.id, { type: 'held', actor: by })
    await webhooks.emit(tx, {
      type: 'commerce.order.held.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: orders.forMerchant(held) },
    })
    return held
  }
  return act(db, actor, id, { verb: 'hold', action: 'order.held', work })
}

/** Somebody has begun to work on it. */
export function process(db: TenantDb, actor: audit.Actor, id: string): Promise<MerchantOrder> {
  const work: Work = async (tx, order) => {
    const changed = await orders.change(tx, order, { processing_at: new Date().toISOString() })
    await insertTimeline(tx, order.id, { type: 'processing', actor: actor.name })
    return changed
  }
  return act(db, actor, id, { verb: 'process', action: 'order.processing', work })
}

type Work = (tx: Tx, order: OrderRow) => Promise<OrderRow>

/** What is done, and as what it is on record. */
interface Act {
  verb: 'hold' | 'process'
  action: string
  work: Work
}

async function act(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { verb, action, work }: Act,
): Promise<MerchantOrder> {
  return db.transaction(`orders: ${verb}`, async (tx) => {
    const order = await orders.lock(tx, id)
    orders.requireAllowed(order, verb)
    const after = await work(tx, order)
    await audit.record(tx, actor, {
      action,
      entity: `order:${order.id}`,
      before: { status: order.status },
      after: { status: after.status },
    })
    return orders.forMerchant(after)
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
