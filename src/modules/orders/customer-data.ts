import type { Db, Tx } from '../../db/database.ts'
import * as mail from '../../platform/mail.ts'
import * as queries from './customer-queries.ts'
import type { CustomerStats } from './customer-schema.ts'

/** A customer's orders, for their profile, the privacy export and erasure. */

/** How much of a customer's orders the profile shows. */
const ORDERS_SHOWN = 10
const ADDRESSES_SHOWN = 10

/** How many orders are searched for addresses and gift cards. */
const ORDERS_SEARCHED = 100

/**
 * The most e-mail addresses of a customer that are read: more than a customer has. If
 * one has more, the first count.
 */
const EMAILS_MAX = 20

/** The sums of customers by their reference. A customer without a placed order has no entry. */
export async function statsOf(
  db: Db,
  customer_refs: readonly string[],
  currency: string,
): Promise<Map<string, CustomerStats>> {
  const stats = await queries.sumOrders(db, customer_refs, currency)
  return new Map(stats.map((each) => [each.customer_ref, each]))
}

export async function profileOf(db: Db, customer_ref: string) {
  const [orders, addresses, gift_cards_used] = await Promise.all([
    queries.listLatest(db, customer_ref, ORDERS_SHOWN),
    queries.listAddresses(db, customer_ref, ORDERS_SEARCHED, ADDRESSES_SHOWN),
    queries.listGiftCardUses(db, customer_ref, ORDERS_SEARCHED),
  ])
  return { orders, addresses, gift_cards_used }
}

/** The addresses under which a customer has ordered, in lower case. */
export const emailsOf = async (db: Db, customer_ref: string): Promise<string[]> =>
  (await queries.listEmails(db, customer_ref, EMAILS_MAX)).map(({ email }) => email)

/** Finds the customers who ordered under one of the addresses, without those who are another person. */
export const refsByEmail = async (
  db: Db,
  emails: readonly string[],
  person_id: string | null,
  limit: number,
): Promise<string[]> =>
  (await queries.listRefsByEmail(db, emails, person_id, limit)).map((row) => row.customer_ref)

export const countOrders = queries.countOrders

/** How many orders of a person are searched for their cards and addresses. */
const TRACES_MAX = 50

/** Lists the cards that paid for orders of a person, and the addresses these went to: the newest ones. */
export const listTraces = (
  db: Db,
  person: { customer_ref: string | null; email_folded: string | null },
) => queries.listTraces(db, person, TRACES_MAX)

/** Erases the person from at most `limit` orders with their notes, refunds, charges and mailed links. */
export async function eraseOrders(
  tx: Tx,
  erasure: Parameters<typeof queries.eraseOrders>[1],
): Promise<{ order_ids: string[]; refund_ids: string[] }> {
  const order_ids = (await queries.eraseOrders(tx, erasure)).map(({ id }) => id)
  if (order_ids.length === 0) return { order_ids, refund_ids: [] }
  const [refunds] = await Promise.all([
    queries.listRefundIds(tx, order_ids),
    queries.eraseNotes(tx, order_ids),
    queries.eraseCorrections(tx, order_ids),
    queries.eraseRefundReasons(tx, order_ids),
    queries.eraseCards(tx, order_ids),
    mail.deleteOfOrders(tx, order_ids),
  ])
  return { order_ids, refund_ids: refunds.map(({ refund_id }) => refund_id) }
}

export const listWhole = queries.listWhole

/** The mails with links to orders, by order. */
export async function linkMailsOf(
  db: Db,
  order_ids: readonly string[],
): Promise<Map<string, mail.OrderMail[]>> {
  return Map.groupBy(await mail.listOfOrders(db, order_ids), ({ order_id }) => order_id)
}
