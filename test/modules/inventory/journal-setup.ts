import assert from 'node:assert/strict'
import type pg from 'pg'
import { postStockJournals } from '../../../src/modules/inventory/journal-jobs.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import { type Line, ok, ordered, receiveAll } from '../purchasing/setup.ts'

/** Posts all entries that wait for their journal. Returns how many these were. */
export async function postAll({ runtime }: Pick<TestApp, 'runtime'>): Promise<number> {
  let total = 0
  for (let did = 1; did > 0; total += did) did = await postStockJournals(runtime.workerDatabase)
  return total
}

export interface StockJournal {
  kind: string
  ref: string
  at: string
  accounts: Record<string, number>
}

/** The journals of stock of a store since one of its journals, oldest first. */
export async function journalsSince(
  superuser: pg.Client,
  tenant: string,
  after: string,
): Promise<StockJournal[]> {
  const { rows } = await superuser.query(
    `select j.kind, j.ref, j.created_at as at, json_object_agg(e.account, e.amount_cents) as accounts
       from ledger_journals j
       join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
      where j.tenant_ref = $1 and j.kind like 'stock.%' and j.id > $2
      group by j.id, j.kind, j.ref, j.created_at
      order by j.id`,
    [tenant, after],
  )
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

/** Before the first journal. */
export const NO_JOURNAL = '00000000-0000-0000-0000-000000000000'

/** Returns the id of the last journal of a store. */
export async function lastJournal(superuser: pg.Client, tenant: string): Promise<string> {
  const { rows } = await superuser.query(
    `select coalesce((select id from ledger_journals where tenant_ref = $1 order by id desc limit 1),
                     $2) as id`,
    [tenant, NO_JOURNAL],
  )
  return rows[0].id
}

/** The accounts of stock in the trial balance of a store, as its merchant reads it. */
export async function balancesOf(merchant: Caller): Promise<Record<string, number>> {
  const { trial_balance, balanced } = ok(await merchant.get('/v1/merchant/ledger/proof'))
  assert.equal(balanced, true)
  return Object.fromEntries(
    trial_balance
      .filter(({ account }: { account: string }) => ACCOUNTS.has(account))
      .map((line: { account: string; balance_cents: number }) => [
        line.account,
        line.balance_cents,
      ]),
  )
}

const ACCOUNTS = new Set([
  'inventory_asset',
  'cogs',
  'goods_in_transit',
  'landed_cost',
  'inventory_opening',
  'inventory_adjustment',
])

/** How many entries of a store wait for their journal. */
export async function countWaiting(superuser: pg.Client, tenant: string): Promise<number> {
  const { rows } = await superuser.query(
    'select count(*)::int as waiting from inventory_unposted where tenant_ref = $1',
    [tenant],
  )
  return rows[0].waiting
}

/** A purchase order whose units have all come. */
export async function bought(merchant: Caller, lines: Line[]) {
  const purchase = await ordered(merchant, lines)
  await receiveAll(merchant, purchase)
  return purchase
}

export const adjust = (merchant: Caller, variant: string, delta: number) =>
  merchant.post(`/v1/merchant/inventory/${variant}/adjust`, { delta, reason: 'any' })

export const addCost = (merchant: Caller, purchase_order: string, amount_cents: number) =>
  merchant.post(`/v1/merchant/purchasing/orders/${purchase_order}/costs`, {
    description: 'freight',
    amount_cents,
    split_by: 'quantity',
  })

/** Counts a variant at the default location, and posts the difference. */
export async function countTo(merchant: Caller, variant_id: string, counted: number) {
  const url = '/v1/merchant/inventory/counts'
  const begun = { location_id: 'default', variant_ids: [variant_id] }
  const { count } = ok(await merchant.post(url, begun), 201)
  ok(await merchant.put(`${url}/${count.id}/lines`, { lines: [{ variant_id, counted }] }))
  const posted = await merchant.post(`${url}/${count.id}/post`)
  return { id: count.id as string, posted }
}

export const recall = (merchant: Caller, parcel: string, reason: string) =>
  merchant.post(`/v1/merchant/fulfillments/${parcel}/cancel`, { reason })
