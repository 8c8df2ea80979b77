import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import type { Actor } from '../../platform/audit.ts'
import { type Answer, STARTED } from '../../platform/idempotency.ts'
import type { BanTerms } from '../fraud/schema.ts'
import * as fraud from '../fraud/service.ts'
import { cancel } from '../orders/cancel-money.ts'
import type { Asked } from '../orders/money.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import * as queries from './review-queries.ts'
import type { BanFromOrder, Rejection, Review } from './review-schema.ts'
import type { CheckoutDeps } from './service.ts'

/** Orders that wait for a person to look at them, each with what was found. */
export async function listReviews(db: Db, page: Page) {
  const [waiting, { total }] = await Promise.all([
    queries.listReviews(db, page),
    queries.countReviews(db),
  ])
  const reviews: Review[] = waiting.map(({ decision, ...order }) => ({ order, decision }))
  return { reviews, total, ...page }
}

/** Cancels a held order, with all that was authorised or paid; and keeps its shopper out, if asked to. */
export async function reject(
  deps: CheckoutDeps,
  db: TenantDb,
  asked: Asked,
  orderId: string,
  { note = null, ban }: Rejection,
): Promise<Answer> {
  if (asked.claim.recoveryPoint === STARTED) {
    orders.requireAllowed(await orders.get(db, orderId), 'reject')
  }
  // With the order in hand: whoever was released meanwhile is not banned.
  const also = async (tx: Tx, { id }: OrderRow) => {
    if (ban) await banShopper(tx, asked.actor, id, ban)
  }
  const wish = { reason: 'fraud', note, restock: true, as: 'reject' } as const
  return cancel(deps, db, asked, orderId, { ...wish, also })
}

/** Bans the shopper of an order by the facts that it knows. What it does not know is left out. */
export const banFromOrder = (db: TenantDb, actor: Actor, { order_id, ...wanted }: BanFromOrder) =>
  db.transaction('checkout: ban', (tx) => banShopper(tx, actor, order_id, wanted))

async function banShopper(
  tx: Tx,
  actor: Actor,
  order_id: string,
  wanted: BanTerms & Pick<BanFromOrder, 'kinds'>,
) {
  const order = await orders.get(tx, order_id)
  return fraud.banFacts(tx, actor, await factsOf(tx, order), wanted)
}

/** Of the card only its fingerprint is kept. */
async function factsOf(db: Db, { id, customer_ref, email, ip, ship_to }: OrderRow) {
  const charges = await orders.listCharges(db, id)
  const card_fingerprint = charges.find((each) => each.card_fingerprint !== null)?.card_fingerprint
  return { customer_ref, email, ip, card_fingerprint, address: ship_to }
}
