import { awaitAll } from '../../db/await-all.ts'
import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { cancelMove, reserveMove, reverseMove, settleMove } from '../order-changes/move-money.ts'
import { splitOverTenders } from '../order-changes/refund-parts.ts'
import { requireNoDispute } from '../order-changes/settle-refund-money.ts'
import type { OrderExchange, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { exchangeReleased, returnExchanged } from './events.ts'
import * as queries from './exchange-queries.ts'
import { readMoneyFacts } from './money-facts.ts'
import { type Credit, planCredit, takeOf } from './plan-exchange.ts'
import type { ExchangeRow, ReturnRow } from './schema.ts'
import { find, type LockedReturn, lockReturn, requireState } from './service.ts'
import { forEvent, shownExchange } from './show.ts'

/**
 * The money of exchanges: the order with the new goods takes it from the refund of the return, and
 * returns it when that order is cancelled. The order of the return is always locked before the order of the
 * exchange, so that an exchange chain is locked from its first order on.
 */

/** The most exchanges of a return, with those that were cancelled. No return needs as many. */
const EXCHANGES_MAX = 100

const tooMany = () =>
  new ApiError('limit_reached', {
    message: `A return has at most ${EXCHANGES_MAX} exchanges, cancelled ones included.`,
    body: { limit: 'exchanges_per_return', max: EXCHANGES_MAX, used: EXCHANGES_MAX },
  })

/** Reads the money that an exchange of a return can take now. Refuses a return that has none to take. */
export async function readCredit(db: Db, locked: LockedReturn, advance: boolean): Promise<Credit> {
  requireState(locked.returned, 'exchange')
  if (locked.returned.exchanges.length >= EXCHANGES_MAX) throw tooMany()
  const facts = await readMoneyFacts(db, locked)
  const credit = planCredit(facts, advance)
  if (credit.available_cents === 0) throw new ApiError('nothing_to_exchange')
  const { charges } = facts.refundable
  const tenders = splitOverTenders(charges, credit.available_cents, 'original')
  await requireNoDispute(db, locked.order, charges, tenders)
  return credit
}

/** Reads how much another exchange could still take. */
export async function readRemaining(db: Db, return_id: string, advance: boolean): Promise<number> {
  const returned = await find(db, return_id)
  const order = await orders.get(db, returned.order_id)
  return planCredit(await readMoneyFacts(db, { returned, order }), advance).available_cents
}

interface Taking {
  /** The order with the new goods. */
  order_id: string
  total_cents: number
  advance: boolean
  pay_days: number
  actor: string
}

/** Reserves the money that an order takes from a return's refund. The order of the return is locked. */
export async function takeCredit(
  tx: Tx,
  { returned, order }: LockedReturn,
  credit: Credit,
  { order_id, total_cents, advance, pay_days, actor }: Taking,
): Promise<void> {
  const { amount_cents, from_waived_cents, parts } = takeOf(credit, total_cents)
  orders.requireFree(order, 'refund')
  const charges = await orders.listCharges(tx, order.id)
  const refund_id =
    amount_cents === 0
      ? null
      : await reserveMove(tx, order, charges, { amount_cents, parts, actor })
  await queries.insertExchange(tx, {
    id: newId(),
    return_id: returned.id,
    order_id,
    advance,
    amount_cents,
    from_waived_cents,
    pay_days,
    refund_id,
    created_by: actor,
  })
}

/** Finds the exchange that created an order, as the order shows it. Returns null if there is none. */
export async function exchangeOf(db: Db, id: string): Promise<OrderExchange | null> {
  const found = await queries.findOfOrder(db, id)
  if (found === null) return null
  const { return_id, advance, amount_cents: credit_cents } = found
  const { order_id } = await find(db, return_id)
  return { return_id, order_id, advance, credit_cents }
}

/** Finds the order whose goods the order of an exchange replaces, and the refund that pays for it. */
export async function findExchangedGoods(
  db: Db,
  id: string,
): Promise<{ order_id: string; refund_id: string } | null> {
  const { refund_id } = await getExchange(db, id)
  if (refund_id === null) return null
  const { order_id } = await orders.getRefund(db, refund_id)
  return { order_id, refund_id }
}

export async function getExchange(db: Db, order_id: string): Promise<ExchangeRow> {
  const found = await queries.findOfOrder(db, order_id)
  if (found === null) throw new Error('the order has no exchange')
  return found
}

/**
 * Moves the money to the order of the exchange, which is about to be placed. Its other charges pay for the rest. Both
 * orders are locked, that of the return first.
 */
export async function settleExchange(tx: Tx, order_id: string): Promise<ExchangeRow> {
  const { id, return_id, refund_id } = await getExchange(tx, order_id)
  const { order } = await lockReturn(tx, return_id)
  const placed = await queries.placeExchange(tx, id)
  const refund = refund_id === null ? null : await orders.getRefund(tx, refund_id)
  const from = refund === null ? order : await settleMove(tx, order, refund, order_id)
  await tell(tx, from, await find(tx, return_id), { exchange: placed })
  return placed
}

interface Told {
  exchange: ExchangeRow
  /** The amount that went back to the return, of an exchange that has ended. */
  released_cents?: number
  actor?: string
}

/** Writes an exchange, or its end, to the timeline of the returned order, and emits the event. */
const tell = (
  tx: Tx,
  order: OrderRow,
  row: ReturnRow,
  { exchange, released_cents, actor = exchange.created_by }: Told,
) => {
  const facts = { return: forEvent(row), exchange: shownExchange(exchange) }
  return awaitAll([
    orders.addToTimeline(tx, order.id, {
      type: released_cents === undefined ? 'return_exchanged' : 'exchange_released',
      actor,
      data: {
        return_id: row.id,
        return_number: row.return_number,
        exchange_order_id: exchange.order_id,
        amount_cents: released_cents ?? exchange.amount_cents,
      },
    }),
    released_cents === undefined
      ? returnExchanged.emit(tx, order, facts)
      : exchangeReleased.emit(tx, order, { ...facts, released_cents }),
  ])
}

/**
 * Locks the order that paid for the order of an exchange, before that order itself, which may be any order. Returns
 * that order, or null without one.
 */
export async function lockExchanged(
  tx: Tx,
  { id, source }: Pick<OrderRow, 'id' | 'source'>,
): Promise<OrderRow | null> {
  if (source !== 'exchange') return null
  const { return_id } = await getExchange(tx, id)
  return (await lockReturn(tx, return_id)).order
}

/**
 * Locks the order that paid for the order of an exchange. Returns a function that moves the money back once the
 * order is cancelled: if the goods have come, a receipt without lines then refunds it. Returns null if the order is
 * of no exchange.
 */
export async function openExchange(
  tx: Tx,
  opened: Pick<OrderRow, 'id' | 'source'>,
): Promise<((cancelled: OrderRow, actor: string) => Promise<OrderRow>) | null> {
  const order = await lockExchanged(tx, opened)
  if (order === null) return null
  return async (cancelled, actor) => {
    const exchange = await getExchange(tx, opened.id)
    const { to, from, released_cents } = await releaseMoney(tx, exchange, {
      order,
      cancelled,
      actor,
    })
    const released = await queries.releaseExchange(tx, exchange.id, released_cents)
    const row = await find(tx, exchange.return_id)
    await tell(tx, from, row, { exchange: released, released_cents, actor })
    return to
  }
}

/** Lists the orders whose money these refunds reserve, until their shoppers pay the rest. */
export const listWaitingExchanges = async (
  tx: Tx,
  refund_ids: readonly string[],
): Promise<string[]> =>
  (await queries.listOfRefunds(tx, refund_ids)).map(({ order_id }) => order_id)

/** Refuses to pay for an exchange while the bank may still take the money that pays for the rest of it. */
export async function requireUndisputedCredit(tx: Tx, { id, source }: OrderRow): Promise<void> {
  if (source !== 'exchange') return
  const { refund_id } = await getExchange(tx, id)
  if (refund_id === null) return
  const { order_id, tenders } = await orders.getRefund(tx, refund_id)
  const [order, charges] = await awaitAll([
    orders.get(tx, order_id),
    orders.listCharges(tx, order_id),
  ])
  await requireNoDispute(tx, order, charges, tenders)
}

interface Cancelled {
  order: OrderRow
  cancelled: OrderRow
  actor: string
}

/** Moves the money of a cancelled exchange back. Money that its order has refunded to the shopper is not moved. */
async function releaseMoney(
  tx: Tx,
  { refund_id, status, amount_cents }: ExchangeRow,
  { order, cancelled, actor }: Cancelled,
) {
  if (refund_id === null) return { to: cancelled, from: order, released_cents: 0 }
  const refund = await orders.getRefund(tx, refund_id)
  if (status === 'waiting') {
    await cancelMove(tx, refund)
    return { to: cancelled, from: order, released_cents: amount_cents }
  }
  const moved = await reverseMove(tx, { from: order, refund, to: cancelled, actor })
  return { to: moved.to, from: moved.from, released_cents: moved.amount_cents }
}
