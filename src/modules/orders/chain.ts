import type { Db, Tx } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import * as queries from './chain-queries.ts'
import type { ChargeRow, OrderRow, RefundRow } from './schema.ts'
import { cardsOf, leftOn, listCharges, listRefunds, lockMany, refundableOf } from './service.ts'
import type { Wait } from './status.ts'

/**
 * Exchange chains: an order, and the orders to which exchanges have moved its money. The bank of a card knows one
 * payment of them all, so its dispute concerns them all. An order of a chain is locked before those that have its
 * money: a new exchange of it waits for that lock, so that the next orders do not change while they are locked
 * (decision 0071).
 */

/** An order of a chain, with its card charges whose money came from the first order of it. */
export interface ChainLink {
  order: OrderRow
  cards: ChargeRow[]
  refunds: RefundRow[]
}

/**
 * The actions that an order must wait with while a dispute is open. A cancellation refunds the order's own charges;
 * money that an exchange has moved here goes back to its order, where that order's dispute can reach it.
 */
export async function disputeWaits(
  db: Db,
  order: OrderRow,
  charges: readonly ChargeRow[],
): Promise<Wait[]> {
  if (!(await isAtRisk(db, order, charges))) return []
  const own = charges.filter(({ moved_from }) => order.disputed || moved_from === null)
  return (await isAtRisk(db, order, own)) ? ['dispute', 'cancel_dispute'] : ['dispute']
}

/** Whether a bank may still take card money of an order: its dispute, or that of an order of its chain, is open. */
async function isAtRisk(db: Db, { disputed }: OrderRow, charges: readonly ChargeRow[]) {
  const left = cardsOf(charges).filter((each) => leftOn(each) > 0)
  if (left.length === 0 || disputed) return left.length > 0
  return isDisputed(
    db,
    left.map(({ charge_id }) => charge_id),
  )
}

/** Whether the dispute of an order is open whose payment is also that of these charges. */
export const isDisputed = async (db: Db, charge_ids: readonly string[]): Promise<boolean> =>
  charge_ids.length > 0 && (await queries.findDisputed(db, charge_ids)) !== null

/** Whether the dispute of an order is open that card money of this one came from. */
export async function isSourceDisputed(
  db: Db,
  { cards }: Pick<ChainLink, 'cards'>,
): Promise<boolean> {
  const sources = cards.flatMap(({ moved_from }) => moved_from ?? [])
  return sources.length > 0 && (await queries.findDisputedSource(db, sources)) !== null
}

/** Finds the order that a charge originally paid for: the first order of its chain. */
export const firstOrderOf = async (
  db: Db,
  { charge_id, order_id, moved_from }: ChargeRow,
): Promise<string> =>
  moved_from === null ? order_id : (await queries.findFirstOrder(db, charge_id)).order_id

/** Locks the orders that have card money of a locked order, and returns all of them, that order first. */
export async function lockChain(tx: Tx, first: OrderRow): Promise<ChainLink[]> {
  const chain: ChainLink[] = []
  let level = [await readLink(tx, first, null)]
  while (level.length > 0) {
    chain.push(...level)
    const from = chargeIdsOf(level)
    const next = from.length === 0 ? [] : await queries.listOrdersMovedTo(tx, from)
    const locked = await lockMany(
      tx,
      next.map(({ order_id }) => order_id),
    )
    level = []
    for (const order of locked.values()) level.push(await readLink(tx, order, new Set(from)))
  }
  return chain
}

const chargeIdsOf = (links: readonly ChainLink[]): string[] =>
  links.flatMap(({ cards }) => cards.map(({ charge_id }) => charge_id))

/** Reads a link. `from` are the charges whose money counts, or null for the first order. */
async function readLink(
  tx: Tx,
  order: OrderRow,
  from: ReadonlySet<string> | null,
): Promise<ChainLink> {
  const [charges, refunds] = await Promise.all([
    listCharges(tx, order.id),
    listRefunds(tx, order.id),
  ])
  const cards = cardsOf(charges).filter(
    ({ moved_from }) => from === null || (moved_from !== null && from.has(moved_from)),
  )
  return { order, cards, refunds }
}

/** Returns what is left of the card money of a chain: neither refunded nor reserved for a refund. */
export const leftOf = (chain: readonly ChainLink[]): number =>
  sum(chain.map(({ cards }) => refundableOf(cards)))

/**
 * Returns the card money of the first order of a chain, wherever it is now. Money that went back to the order it came
 * from, since the exchange was cancelled, is no longer this order's.
 */
export function cardMoneyOf(chain: readonly ChainLink[]): number {
  const all = chain.flatMap(({ cards }) => cards)
  const tenders = chain
    .flatMap(({ refunds }) => refunds.filter(({ method }) => method === 'exchange'))
    .flatMap((refund) => refund.tenders.filter(({ status }) => status === 'succeeded'))
  /** The money that exchanges have moved from a charge and that is not with later orders. */
  const movedBack = ({ charge_id }: ChargeRow): number => {
    const moved = tenders.filter((each) => each.charge_id === charge_id)
    const later = all.filter(({ moved_from }) => moved_from === charge_id)
    return sum(moved.map(({ amount_cents }) => amount_cents)) - sum(later.map(keptOf))
  }
  const keptOf = (charge: ChargeRow): number => charge.captured_cents - movedBack(charge)
  return sum((chain[0]?.cards ?? []).map(keptOf))
}
