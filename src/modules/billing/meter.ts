import type { Tx } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import { FOLLOWED_ROWS } from '../../platform/follower.ts'
import * as media from '../media/service.ts'
import * as queries from './meter-queries.ts'
import type { MeteredQuantity, MeteredUsage } from './month-price.ts'
import { dayNumber, dayOf, daysIn, monthOf } from './months.ts'
import { type Account, METERS, type Meter } from './plan-schema.ts'
import { lockAccount } from './queries.ts'
import type { Month, UsageRow } from './schema.ts'

/**
 * Counts usage from facts that have their number: journals of the ledger and events of the feed. A step reads
 * the facts after the position of the store, adds them to the usage of their month and moves the position, in
 * one transaction: each fact is counted once, whenever a process is killed. A fact of a month that is closed
 * belongs to the oldest month that is open (decision 0055).
 */

/** The positions that a step has reached. */
export interface Counted {
  ledger_position: number
  ledger_start: number
  event_position: number
  media_day: string | null
  isCaughtUp: boolean
}

/** The month that a fact of this time is counted in: never a closed one. */
export const monthFor = ({ open_month }: Pick<Account, 'open_month'>, atMs: number): Month => {
  const own = monthOf(atMs)
  return own < open_month ? open_month : own
}

/** Adds up counted facts, by row of the usage. */
class Sums {
  readonly #rows = new Map<string, queries.AddedUsage>()

  add(added: Omit<queries.AddedUsage, 'from_position' | 'to_position'>, position: number): void {
    const { month, meter, currency, key, quantity } = added
    const name = JSON.stringify([month, meter, currency, key])
    const row = this.#rows.get(name)
    if (row === undefined) {
      this.#rows.set(name, { ...added, from_position: position, to_position: position })
      return
    }
    row.quantity = sum([row.quantity, quantity])
    row.from_position = Math.min(row.from_position, position)
    row.to_position = Math.max(row.to_position, position)
  }

  /** Adds a journal of an order, or takes it out again. */
  addJournal(month: Month, journal: queries.MeteredJournal, sign: 1 | -1 = 1): void {
    const { kind, currency, volume_cents, sequence } = journal
    const row = { month, currency: '', key: '' }
    if (kind === 'order.placed') this.add({ ...row, meter: 'orders', quantity: sign }, sequence)
    if (volume_cents === 0) return
    const quantity = sign * volume_cents
    this.add({ ...row, meter: 'gross_volume', currency, quantity }, sequence)
  }

  get rows(): queries.AddedUsage[] {
    return [...this.#rows.values()]
  }
}

/** Counts the next facts of a store. Facts of a sandbox are skipped: they are never billed. */
export async function countFacts(tx: Tx, account: Account, isSandbox: boolean): Promise<Counted> {
  const sums = new Sums()
  const journals = await queries.listJournals(tx, account.ledger_position, FOLLOWED_ROWS)
  for (const journal of journals) {
    if (journal.is_test !== false) continue
    sums.addJournal(monthFor(account, Date.parse(journal.created_at)), journal)
  }
  const events = await queries.listEvents(tx, account.event_position, FOLLOWED_ROWS)
  for (const { sequence, emitted_at, deliveries } of events) {
    if (deliveries === 0) continue
    const month = monthFor(account, Date.parse(emitted_at))
    const row = { month, meter: 'webhook_deliveries', currency: '', key: '' }
    sums.add({ ...row, quantity: deliveries }, sequence)
  }
  const calls = await queries.takeCalls(tx, FOLLOWED_ROWS)
  for (const { credential_id, day, calls: quantity } of calls) {
    const month = monthFor(account, Date.parse(day))
    const row = { month, meter: 'api_calls', currency: '', key: credential_id }
    sums.add({ ...row, quantity }, dayNumber(day))
  }
  const media_day = await countMedia(tx, account, sums)
  if (!isSandbox && sums.rows.length > 0) await queries.addUsage(tx, sums.rows)
  const ledger_position = journals.at(-1)?.sequence ?? account.ledger_position
  return {
    ledger_position,
    ledger_start: isSandbox ? ledger_position : account.ledger_start,
    event_position: events.at(-1)?.sequence ?? account.event_position,
    media_day,
    isCaughtUp: [journals, events, calls].every(({ length }) => length < FOLLOWED_ROWS),
  }
}

/**
 * Adds the bytes that the store has today, once for each day. A day on which no worker ran counts as none:
 * the store pays for less, never for more.
 */
async function countMedia(tx: Tx, account: Account, sums: Sums): Promise<string> {
  const now = tx.clock.now()
  const today = dayOf(now)
  if (account.media_day !== null && account.media_day >= today) return account.media_day
  const bytes = await media.readUsedBytes(tx)
  const row = { month: monthFor(account, now), meter: 'media_byte_days', currency: '', key: '' }
  if (bytes > 0) sums.add({ ...row, quantity: bytes }, dayNumber(today))
  return today
}

/**
 * Takes a flagged order out of the usage, or puts it back, in the transaction that flags it: each journal in
 * its month. A closed month stays as it is, and the difference is in the oldest that is open. The lock makes
 * this wait for a step of the loop that counts the order, or the step wait for this.
 */
export async function flagTest(tx: Tx, { id }: { id: string }, is_test: boolean): Promise<void> {
  const account = await lockAccount(tx)
  const { ledger_start: after, ledger_position: to } = account
  const journals = await queries.listCountedOfOrder(tx, id, { after, to })
  const sums = new Sums()
  for (const journal of journals) {
    const month = monthFor(account, Date.parse(journal.created_at))
    sums.addJournal(month, journal, is_test ? -1 : 1)
  }
  if (sums.rows.length > 0) await queries.addUsage(tx, sums.rows)
}

const NONE: MeteredQuantity = { quantity: 0, from_position: null, to_position: null }

/**
 * The usage of a month in the form in which it is billed: volume in the currency of the invoice, media as the mean of
 * its days.
 */
export function toMetered(
  rows: readonly UsageRow[],
  { month, currency }: { month: Month; currency: string },
): MeteredUsage {
  const find = (meter: string, of = ''): MeteredQuantity =>
    rows.find((row) => row.meter === meter && row.currency === of) ?? NONE
  const stored = find('media_byte_days')
  return {
    orders: find('orders'),
    gross_volume: find('gross_volume', currency),
    webhook_deliveries: find('webhook_deliveries'),
    media_bytes: { ...stored, quantity: Math.floor(stored.quantity / daysIn(month)) },
    api_calls: find('api_calls'),
  }
}

/** The positions that each meter was counted from, for meters with any usage. */
export const positionsOf = (usage: MeteredUsage) =>
  METERS.flatMap((meter: Meter) => {
    const { from_position, to_position } = usage[meter]
    if (from_position === null || to_position === null) return []
    return [{ meter, from_position, to_position }]
  })
