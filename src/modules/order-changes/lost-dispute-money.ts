import type { Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import * as ledger from '../ledger/money.ts'
import { type ChainLink, cardMoneyOf, leftOf } from '../orders/chain.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { takeBackLeft } from './bought-cards.ts'
import type { OrderChangePorts } from './ports.ts'
import { partsOf, splitAmount, splitOverTenders, subtractParts } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import { NO_REPLIES } from './refund-replies.ts'
import type { Parts } from './schema.ts'
import { exceeds, reserveRefund, settleRefund } from './settle-refund-money.ts'

/**
 * Lost disputes: the bank has taken the money. That is a refund without a request to a gateway, of the order and
 * of the orders to which exchanges have moved its money. Money that was already refunded to the shopper is taken a
 * second time: a loss of the store (decision 0071).
 */

export type LossDeps = Pick<OrderChangePorts, 'listWaitingExchanges'>

/** The amounts that the bank takes of the orders of a chain. */
interface Loss {
  amount_cents: number
  lost_twice_cents: number
  shares: { link: ChainLink; amount: number; reserved: Parts }[]
}

/** Plans a loss. The rest of the disputed order itself is taken first, then that of the orders which have its money. */
export async function planLoss(
  tx: Tx,
  deps: LossDeps,
  chain: readonly ChainLink[],
  disputed: number | undefined,
): Promise<Loss> {
  await requireNoWaiting(tx, deps, chain)
  const links = await readReserved(tx, chain)
  const money = cardMoneyOf(chain)
  const left = leftOf(chain)
  const amount_cents = disputed ?? left
  if (disputed === undefined && left === 0) throw amountNeeded()
  if (amount_cents > money) throw exceeds(money)
  let rest = Math.min(amount_cents, left)
  const lost_twice_cents = amount_cents - rest
  const shares = links.map((each) => {
    const amount = Math.min(rest, orders.refundableOf(each.link.cards))
    rest -= amount
    return { ...each, amount }
  })
  return { amount_cents, lost_twice_cents, shares }
}

/**
 * Reads the amounts that refunds have reserved of each order. Refuses while any of the orders is changed or refunded.
 */
function readReserved(tx: Tx, chain: readonly ChainLink[]) {
  return Promise.all(
    chain.map(async (link) => {
      orders.requireFree(link.order, 'refund')
      const reserved = await sumReserved(tx, link.order.id)
      // A gateway may refuse a pending refund; its money is then part of the amount that the bank has taken.
      if (reserved.pending > 0) throw orders.busy()
      return { link, reserved }
    }),
  )
}

const amountNeeded = () =>
  invalidBody(
    'amount_cents',
    'must be sent: nothing is left of the card charges, so name the amount that the bank took a second time',
  )

/**
 * Refuses a loss while an exchange waits for its shopper with card money of the chain: it would be placed for
 * money that the bank has. Its payment request is withdrawn first, or expires.
 */
async function requireNoWaiting(
  tx: Tx,
  deps: LossDeps,
  chain: readonly ChainLink[],
): Promise<void> {
  const reserving = chain.flatMap(({ refunds, cards }) =>
    refunds
      .filter(({ method, status }) => method === 'exchange' && status === 'pending')
      .filter(({ tenders }) =>
        tenders.some((share) => cards.some(({ charge_id }) => charge_id === share.charge_id)),
      )
      .map(({ refund_id }) => refund_id),
  )
  if (reserving.length === 0) return
  const order_ids = await deps.listWaitingExchanges(tx, reserving)
  throw new ApiError('exchange_open', { message: WAITING, body: { order_ids } })
}

const WAITING =
  'An exchange of this order waits for its shopper to pay, with money that the bank takes. Withdraw its payment request first.'

/** Books a loss, and returns the changed orders of the chain. `ended` are the orders without their dispute. */
export async function bookLosses(
  tx: Tx,
  { amount_cents, lost_twice_cents, shares }: Loss,
  { ended, by }: { ended: readonly OrderRow[]; by: string },
): Promise<OrderRow[]> {
  const [first] = ended
  if (first === undefined) return []
  const data = { amount_cents, lost_twice_cents }
  await orders.addToTimeline(tx, first.id, { type: 'dispute_lost', actor: by, data })
  if (lost_twice_cents > 0) await ledger.post(tx, lossJournal(first, lost_twice_cents))
  const after: OrderRow[] = []
  for (const [place, share] of shares.entries()) {
    const order = ended[place] ?? share.link.order
    after.push(share.amount === 0 ? order : await bookLoss(tx, order, { ...share, by }))
    if (share.amount === 0 || place === 0) continue
    const moved = { amount_cents: share.amount, disputed_order_id: first.id }
    await orders.addToTimeline(tx, order.id, { type: 'dispute_lost', actor: by, data: moved })
  }
  return after
}

/** The journal of an amount that the shopper gets twice: the gateway owes it no more, and no sale is undone. */
const lossJournal = ({ id: order_id, currency }: OrderRow, cents: number) => ({
  kind: 'dispute.lost',
  currency,
  order_id,
  entries: [
    { account: 'dispute_loss' as const, amount_cents: cents },
    { account: 'card_clearing' as const, amount_cents: -cents },
  ],
})

async function bookLoss(
  tx: Tx,
  order: OrderRow,
  {
    link: { cards },
    amount,
    reserved,
    by,
  }: { link: ChainLink; amount: number; reserved: Parts; by: string },
): Promise<OrderRow> {
  const parts = splitAmount(amount, subtractParts(partsOf(order), reserved))
  const refund_id = await reserveRefund(tx, order, cards, {
    kind: 'refund',
    method: 'original',
    parts,
    ...(await takeBackLeft(tx, order, parts)),
    tenders: splitOverTenders(cards, amount, 'original'),
    reason: null,
    actor: by,
    isTaken: true,
  })
  const refund = await orders.getRefund(tx, refund_id)
  const settling = { charges: cards, replies: NO_REPLIES, mayLose: true }
  return (await settleRefund(tx, order, refund, settling)).order
}
