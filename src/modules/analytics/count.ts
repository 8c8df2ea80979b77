import type { Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { sum } from '../../kernel/money.ts'
import { addDays, HOUR_MS, HOUR_SECONDS, localDay, startOfDay } from '../../kernel/time.ts'
import { FOLLOWED_ROWS } from '../../platform/follower.ts'
import type { Lease } from '../../platform/leases.ts'
import { mayHaveLinksAfter } from '../ledger/service.ts'
import * as stores from '../stores/service.ts'
import * as queries from './count-queries.ts'
import { MEASURES, type Measure, type Measures, NOTHING } from './definition-schema.ts'
import { countJournal } from './facts.ts'
import type { KnownOrder, NumberedJournal, OrderHistory } from './history-schema.ts'
import * as paymentFacts from './payment-queries.ts'
import type { Calendar, Dimension, Generation } from './schema.ts'
import { countChanged } from './subscription-queries.ts'

/**
 * Counts numbered journals. A step reads journals after the position of a generation, writes what they add
 * and moves the position, all in one transaction: a journal is counted once, whenever a process is killed
 * (decision 0049).
 */

/**
 * New journals wait this long for the next ones of their store. Counting many costs little more than counting one, so
 * that a store that sells all the time is counted three times a minute and not every second. With the steps of the
 * loops, a report lags by less than 30 seconds.
 */
export const GATHER_SECONDS = 20

/** Days of payments that one step counts. */
const PAYMENT_DAYS = 31

/**
 * How far the count of attempts stays behind the clock. An attempt is dated by the start of the transaction
 * that writes it, and seen at its end. No transaction lasts this long, so that no attempt appears after its
 * time was counted.
 */
const PAYMENT_LAG_MS = 600_000

/** Attempts wait for this long to be counted together. */
const PAYMENT_SLICE_MS = 600_000

/** Changes of subscriptions that one step counts. */
const CHANGES = 1_000

/**
 * How long after its end a day is final. A journal is dated by the start of its transaction, and numbered
 * within seconds. This is longer.
 */
const FINAL_AFTER_MS = HOUR_MS

/** Rows that one step deletes of a retired generation. */
const REMOVED = 2_000

/** A store without new journals is looked at again this often: a day ends, or its zone changes. */
const IDLE_SECONDS = HOUR_SECONDS

/** Returns the day before which all days are final, because everything in them is counted; null if no day is. */
export const finalBefore = ({ counted_at, time_zone }: Generation): string | null =>
  counted_at === null
    ? null
    : localDay(time_zone, new Date(Date.parse(counted_at) - FINAL_AFTER_MS))

/** Takes one step of a generation. Returns how much it did; 0 where the lease was lost. */
export async function advance(tx: Tx, lease: Lease): Promise<number> {
  const found = await queries.lockLeased(tx, lease)
  if (found === null) return 0
  if (found.state === 'retired') return removeSlice(tx, lease, found)
  const { time_zone } = await stores.get(tx)
  const isNew = found.sequence === 0 && found.counted_at === null
  const generation = isNew ? { ...found, time_zone } : found
  if (generation.time_zone !== time_zone) {
    const building = await queries.findGeneration(tx, 'building')
    if (building?.time_zone !== time_zone) await queries.beginGeneration(tx, time_zone)
    // The building generation has just been retired, and has lost its lease.
    if (found.state === 'building') return 1
  }
  const journals = await queries.listNumbered(tx, generation.sequence, FOLLOWED_ROWS)
  await countJournals(tx, generation, journals)
  const payments_to = await countPayments(tx, generation)
  const changes = await countChanged(tx, CHANGES)
  const isCaughtUp = journals.length < FOLLOWED_ROWS
  const isReady = isCaughtUp && generation.state === 'building'
  if (isReady) await queries.retireServing(tx)
  const hasMore = !isCaughtUp || changes === CHANGES || hasPayments(tx, payments_to)
  const sequence = journals.at(-1)?.sequence ?? generation.sequence
  await queries.finishStep(tx, lease, {
    state: isReady ? 'serving' : generation.state,
    time_zone: generation.time_zone,
    sequence,
    payments_to: new Date(payments_to).toISOString(),
    isCaughtUp,
    nextSeconds: hasMore ? 0 : await restSecondsOf(tx, sequence, isReady),
  })
  return journals.length
}

/**
 * Returns how many seconds a count that has caught up may rest. The rest is short if the count replaces another
 * generation: links may have been announced to that one, and are not announced again during the rest.
 */
const restSecondsOf = async (tx: Tx, sequence: number, isReady: boolean): Promise<number> =>
  isReady || (await mayHaveLinksAfter(tx, sequence)) ? GATHER_SECONDS : IDLE_SECONDS

async function removeSlice(tx: Tx, lease: Lease, { generation, ...rest }: Generation) {
  const removed = await queries.deleteCounts(tx, generation, REMOVED)
  if (removed === 0) return queries.deleteGeneration(tx, generation)
  await queries.finishStep(tx, lease, { ...rest, isCaughtUp: false, nextSeconds: 0 })
  return removed
}

async function countJournals(tx: Tx, generation: Generation, journals: readonly NumberedJournal[]) {
  const ofOrders = journals.filter(({ order_id }) => order_id !== null)
  if (ofOrders.length === 0) return
  const ids = [...new Set(ofOrders.map(({ order_id }) => order_id ?? ''))]
  const histories = new Map(
    (await queries.listHistories(tx, ids)).map((each) => [each.order_id, each]),
  )
  const known = await knowOrders(tx, ofOrders, histories)
  const facts = ofOrders.flatMap((journal) => {
    const history = histories.get(journal.order_id ?? '')
    const sale = known.get(journal.order_id ?? '')
    // A journal of an order that was never captured belongs to no sale.
    if (history === undefined || sale === undefined) return []
    return [factOf(generation, journal, { history, sale })]
  })
  await queries.insertFacts(tx, generation.generation, facts)
  await addFacts(tx, generation, facts, 1)
}

/** Finds the position of each order among those of its customer. New positions are stored for good. */
async function knowOrders(
  tx: Tx,
  journals: readonly NumberedJournal[],
  histories: ReadonlyMap<string, OrderHistory>,
): Promise<Map<string, KnownOrder>> {
  const known = new Map(
    (await queries.listKnown(tx, [...histories.keys()])).map((each) => [each.order_id, each]),
  )
  // The sale is almost always the first journal of its order in the chain. If a refund was numbered before it, the
  // order gets its position with the refund.
  const first = Map.groupBy(journals, ({ order_id }) => order_id ?? '')
  const sales = [...first].flatMap(([order_id, [journal]]) => {
    const history = histories.get(order_id)
    const sale_at = history?.sale_at ?? null
    if (journal === undefined || !history || sale_at === null || known.has(order_id)) return []
    return [{ history, sale_sequence: journal.sequence, sale_at }]
  })
  if (sales.length === 0) return known
  const customers = new Map(sales.toReversed().map((sale) => [sale.history.customer_ref, sale]))
  const last = new Map(
    (
      await queries.listLastSales(
        tx,
        [...customers].map(([customer_ref, { history, sale_sequence }]) => ({
          customer_ref,
          order_id: history.order_id,
          sale_sequence,
        })),
      )
    ).map((each) => [each.customer_ref, each]),
  )
  const rows = sales.map(({ history, sale_sequence, sale_at }): KnownOrder => {
    const { order_id, customer_ref, place } = history
    const before = last.get(customer_ref)
    const nth = Math.min(3, (before?.nth ?? 0) + 1)
    const first_at = before?.first_at ?? sale_at
    last.set(customer_ref, { customer_ref, nth, first_at, sale_at })
    const previous_at = before?.sale_at ?? null
    return { order_id, sale_sequence, sale_at, place, nth, first_at, previous_at }
  })
  await queries.insertKnown(tx, rows)
  for (const row of rows) known.set(row.order_id, row)
  return known
}

const monthOf = (day: string): string => day.slice(0, 7)

function factOf(
  { time_zone }: Generation,
  journal: NumberedJournal,
  { history, sale }: { history: OrderHistory; sale: KnownOrder },
): queries.NewFact {
  const dayOf = (at: string) => localDay(time_zone, new Date(at))
  const { measures, lines } = countJournal(journal, history)
  const sale_day = dayOf(sale.sale_at)
  const isSale = journal.kind === 'order.placed'
  const isFirstOfMonth =
    sale.previous_at === null || monthOf(dayOf(sale.previous_at)) !== monthOf(sale_day)
  return {
    ...measures,
    new_customers_count: isSale && sale.nth === 1 ? 1 : 0,
    repeat_customers_count: isSale && sale.nth === 2 ? 1 : 0,
    active_customers_count: isSale && isFirstOfMonth ? 1 : 0,
    sequence: journal.sequence,
    order_id: history.order_id,
    kind: journal.kind,
    at: journal.created_at,
    day: dayOf(journal.created_at),
    sale_day,
    currency: journal.currency,
    is_test: history.is_test,
    coupon: history.coupon,
    coupon_id: history.coupon_id,
    affiliate: history.affiliate,
    source: history.source,
    place: sale.place,
    customer: sale.nth === 1 ? 'new' : 'returning',
    cohort: monthOf(dayOf(sale.first_at)),
    lines,
  }
}

/** Adds facts of real orders to the days of both calendars, or takes them out again. */
async function addFacts(
  tx: Tx,
  generation: Generation,
  facts: readonly queries.NewFact[],
  sign: 1 | -1,
): Promise<void> {
  const before = finalBefore(generation)
  const now = isoNow(tx.clock)
  const rows = new Map<string, queries.DayRow>()
  for (const fact of facts) {
    // Counted, or taken out as a test, after its day was final.
    const late = before !== null && fact.day < before ? now : null
    const moved = late ?? (fact.day > fact.sale_day ? fact.at : null)
    if (fact.is_test) continue
    for (const [dimension, key, amounts] of partsOf(fact)) {
      const { currency, day, sale_day } = fact
      const booked = { calendar: 'booked', dimension, currency, day, key } as const
      const cohort = { calendar: 'cohort', dimension, currency, day: sale_day, key } as const
      add(rows, booked, { amounts, sign, restated_at: late })
      add(rows, cohort, { amounts, sign, restated_at: moved })
    }
  }
  if (rows.size > 0) await queries.addToDays(tx, generation.generation, [...rows.values()])
}

/** What is added to a row: the measures that are not 0. */
type Amounts = readonly (readonly [Measure, number])[]
type Part = [Dimension, key: string, Amounts]

const amountsOf = (measures: Partial<Measures>): Amounts =>
  MEASURES.map((name) => [name, measures[name] ?? 0] as const).filter(([, amount]) => amount !== 0)

/** Divides a fact by every dimension: of lines, and of the whole order. */
function partsOf(fact: queries.NewFact): Part[] {
  const whole = amountsOf(fact)
  return [
    ['all', '', whole],
    ['coupon', fact.coupon, whole],
    ...(fact.coupon_id === '' ? [] : [['coupon_id', fact.coupon_id, whole] satisfies Part]),
    ['affiliate', fact.affiliate, whole],
    ['source', fact.source, whole],
    ['place', fact.place, whole],
    ['customer', fact.customer, whole],
    ['cohort', fact.cohort, whole],
    ...fact.lines.flatMap(({ product_id, variant_id, measures }): Part[] => {
      const amounts = amountsOf(measures)
      return [
        ['product', product_id ?? '', amounts],
        ['variant', variant_id ?? '', amounts],
      ]
    }),
  ]
}

interface RowKey {
  calendar: Calendar
  dimension: Dimension
  currency: string
  day: string
  key: string
}

interface Added {
  amounts: Amounts
  sign: 1 | -1
  restated_at: string | null
}

function add(
  rows: Map<string, queries.DayRow>,
  at: RowKey,
  { amounts, sign, restated_at }: Added,
): void {
  // The key, which a shopper may have written, stands last: no two rows have the same name.
  const name = `${at.calendar} ${at.dimension} ${at.currency} ${at.day} ${at.key}`
  const row = rows.get(name) ?? { ...at, ...NOTHING, restated_at: null }
  for (const [measure, amount] of amounts) row[measure] = sum([row[measure], sign * amount])
  if (restated_at !== null && (row.restated_at ?? '') < restated_at) row.restated_at = restated_at
  rows.set(name, row)
}

const paymentsUntil = (tx: Tx): number => tx.clock.now() - PAYMENT_LAG_MS

/** Whether enough time has passed since attempts were counted. */
const hasPayments = (tx: Tx, counted: number): boolean =>
  counted + PAYMENT_SLICE_MS <= paymentsUntil(tx)

/**
 * Counts the next attempts, day by day. Returns the time up to which all are counted. After a day without attempts it
 * continues with the next day that has any: otherwise a store that sells rarely would need a step for each quiet month.
 */
async function countPayments(tx: Tx, generation: Generation): Promise<number> {
  const { time_zone, payments_to } = generation
  const until = paymentsUntil(tx)
  let at =
    payments_to === null
      ? ((await nextPaymentDay(tx, time_zone, 0)) ?? until)
      : Date.parse(payments_to)
  if (!hasPayments(tx, at)) return at
  await paymentFacts.countSettled(tx, generation.generation)
  for (let days = 0; at < until && days < PAYMENT_DAYS; days++) {
    const day = localDay(time_zone, new Date(at))
    const next = Math.min(until, startOfDay(time_zone, addDays(day, 1)).getTime())
    const [from, to] = [new Date(at).toISOString(), new Date(next).toISOString()]
    const counted = await paymentFacts.countAttempts(tx, generation.generation, { day, from, to })
    at =
      counted > 0 || next === until
        ? next
        : Math.min(until, (await nextPaymentDay(tx, time_zone, next)) ?? until)
  }
  return at
}

/**
 * Returns when the next day with an attempt begins, or the given time if that day has begun before it. Null if no
 * attempt was made since.
 */
async function nextPaymentDay(tx: Tx, time_zone: string, since: number): Promise<number | null> {
  const { at } = await paymentFacts.firstAttempt(tx, new Date(since).toISOString())
  if (at === null) return null
  return Math.max(since, startOfDay(time_zone, localDay(time_zone, new Date(at))).getTime())
}

/**
 * Takes a flagged order out of the figures, or puts it back, in the transaction that flags it. The lock makes
 * this wait for a step of the loop that counts the order, or the step wait for this.
 */
export async function flagTest(
  tx: Tx,
  { id: order_id }: { id: string },
  is_test: boolean,
): Promise<void> {
  const generations = (await queries.lockAll(tx)).filter(({ state }) => state !== 'retired')
  const sign = is_test ? -1 : 1
  for (const generation of generations) {
    const facts = await queries.listFactsOfOrder(tx, generation.generation, order_id)
    const changed = facts.filter((fact) => fact.is_test !== is_test)
    if (changed.length > 0) {
      const real = changed.map((fact) => ({ ...fact, is_test: false }))
      await addFacts(tx, generation, real, sign)
      await queries.markFacts(tx, generation.generation, order_id, is_test)
    }
    await flagPayments(tx, generation, order_id, sign)
  }
}

async function flagPayments(tx: Tx, generation: Generation, order_id: string, sign: 1 | -1) {
  const { time_zone } = generation
  const counted = (await paymentFacts.listCounted(tx, generation, order_id)).map(
    ({ at, ...attempt }) => ({ ...attempt, day: localDay(time_zone, new Date(at)) }),
  )
  if (counted.length > 0) await paymentFacts.addCounted(tx, generation.generation, counted, sign)
}
