import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isCustomerRef } from '../../kernel/schema.ts'
import { affiliateOf } from '../affiliates/customer-data.ts'
import type { Customer } from '../customers/schema.ts'
import * as customers from '../customers/service.ts'
import * as orders from '../orders/customer-data.ts'
import * as pricing from '../pricing/customer-data.ts'
import * as returns from '../returns/customer-data.ts'
import * as storeCredit from '../store-credit/customer-data.ts'
import * as stores from '../stores/service.ts'
import * as subscriptions from '../subscriptions/customer-data.ts'
import type { CustomerRow } from './customer-schema.ts'

/** Lists a page of customers. Each module is read once for the whole page. */
export async function listCustomers(db: Db, filters: customers.Filters, page: Page) {
  const [found, { currency }] = await Promise.all([
    customers.list(db, filters, page),
    stores.get(db),
  ])
  return { ...found, customers: await withStats(db, found.customers, currency) }
}

async function withStats(
  db: Db,
  listed: readonly Customer[],
  currency: string,
): Promise<CustomerRow[]> {
  const refs = listed.map(({ customer_ref }) => customer_ref)
  if (refs.length === 0) return []
  const [stats, credit, active, groups] = await Promise.all([
    orders.statsOf(db, refs, currency),
    storeCredit.balancesOf(db, refs, currency),
    subscriptions.countActive(db, refs),
    pricing.groupsOf(db, refs),
  ])
  return listed.map(({ customer_ref, person_id, email, name, tags }) => ({
    customer_ref,
    person_id,
    email,
    name,
    ...NO_ORDERS,
    ...stats.get(customer_ref),
    currency,
    store_credit_cents: credit.get(customer_ref) ?? 0,
    active_subscriptions: active.get(customer_ref) ?? 0,
    pricing_groups: groups.get(customer_ref) ?? [],
    tags,
  }))
}

const NO_ORDERS = {
  orders_count: 0,
  total_spent_cents: 0,
  refunded_cents: 0,
  first_order_at: null,
  last_order_at: null,
}

export async function readCustomer(db: Db, key: Buffer, customer_ref: string) {
  if (!isCustomerRef(customer_ref)) throw new ApiError('customer_not_found')
  const [customer, { currency }, history] = await Promise.all([
    customers.get(db, key, customer_ref),
    stores.get(db),
    orders.profileOf(db, customer_ref),
  ])
  const [row] = await withStats(db, [customer], currency)
  if (row === undefined) throw new ApiError('customer_not_found')
  const { first_seen_at } = customer
  const [returned, subscribed, affiliate] = await Promise.all([
    returns.listOfLatest(
      db,
      history.orders.map(({ id }) => id),
    ),
    subscriptions.listLatest(db, customer_ref),
    affiliateOf(db, customer_ref, customer.email),
  ])
  const things = { ...history, returns: returned, subscriptions: subscribed }
  return { customer: { ...row, first_seen_at, ...things, affiliate } }
}
