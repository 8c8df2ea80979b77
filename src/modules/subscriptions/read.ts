import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import * as queries from './queries.ts'
import type { Subscription, SubscriptionRow } from './schema.ts'
import { show, showAll } from './show.ts'

/** Reads subscriptions, for their merchant and for their shopper. */

/**
 * The customer to whose subscriptions a caller is limited; null for the merchant, who may see and change all of the
 * store.
 */
export type Whose = string | null

export async function list(db: Db, filters: queries.Filters, page: Page) {
  const store = await stores.get(db)
  const { rows, shown } = await queries.list(db, store.time_zone, filters, page)
  return { subscriptions: await showAll(db, store, rows), ...shown }
}

/** Finds a subscription. One of another customer is not found, as if it did not exist. */
export async function find(
  db: Db,
  { time_zone }: Store,
  id: string,
  whose: Whose,
): Promise<SubscriptionRow> {
  const row = isUuid(id) ? await queries.find(db, time_zone, id) : null
  const isTheirs = row !== null && (whose === null || row.customer_ref === whose)
  if (!isTheirs) throw new ApiError('subscription_not_found')
  return row
}

export async function get(db: Db, id: string, whose: Whose): Promise<Subscription> {
  const store = await stores.get(db)
  return show(db, store, await find(db, store, id, whose))
}

/** Lists the cycles of a shopper's own subscription. */
export async function listCycles(db: Db, id: string, whose: string, page: Page) {
  const row = await find(db, await stores.get(db), id, whose)
  const { rows, shown } = await queries.listCycles(db, row.id, page)
  return { cycles: rows, ...shown }
}

export async function listMerchantCycles(db: Db, id: string, page: Page) {
  const row = await find(db, await stores.get(db), id, null)
  const { rows, shown } = await queries.listMerchantCycles(db, row.id, page)
  return { cycles: rows, ...shown }
}
