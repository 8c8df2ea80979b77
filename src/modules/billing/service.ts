import type { AllStores, Db } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { DAY_MS } from '../../kernel/time.ts'
import type { PdfProcesses } from '../documents/pdf-processes.ts'
import type { Sheet } from '../documents/schema.ts'
import * as entitlements from '../entitlements/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as invoices from './invoice-queries.ts'
import { getDefaultPlan, segmentsOf } from './invoices.ts'
import { positionsOf, toMetered } from './meter.ts'
import { listCallsByKey, listUsage } from './meter-queries.ts'
import { linesOf, type MeteredUsage, projected, type Segment, totalOf } from './month-price.ts'
import { dayOf, daysIn, endOf, monthOf, periodOf, startOf } from './months.ts'
import { isPlanKey, METERS, type Plan } from './plan-schema.ts'
import * as queries from './queries.ts'
import type {
  CreditNoteRow,
  Invoice,
  InvoiceLine,
  InvoiceStatus,
  Month,
  MyPlan,
  Preview,
  PricedLine,
  Quote,
  Usage,
} from './schema.ts'
import { creditNoteSheet, invoiceSheet } from './sheet.ts'

/** Reads billing for merchants and operators. */

/** Changes of plan that are shown. */
const HISTORY_MAX = 50

/** Plans that are shown to merchants. An operator has a handful. */
const PLANS_MAX = 100

/** Keys whose calls are shown. */
const KEYS_MAX = 100

export async function readPlan(db: Db): Promise<MyPlan> {
  const now = db.clock.now()
  const month = monthOf(now)
  const [{ sandbox }, current, history, { tier, features }] = await Promise.all([
    stores.get(db),
    currentPlan(db),
    queries.listPlanChanges(db, HISTORY_MAX),
    entitlements.listFeatures(db),
  ])
  return {
    tier,
    status: sandbox ? 'sandbox' : 'active',
    period_start: month,
    period_end: dayOf(endOf(month) - DAY_MS),
    plan: current.plan,
    since: current.from_day,
    history,
    features: features
      .filter(({ state }) => state === 'on')
      .map(({ feature_key, priceCentsMonthly }) => ({
        feature_key,
        price_cents_monthly: priceCentsMonthly ?? null,
        billed: false as const,
      })),
  }
}

/** The plan of a store today, and since when. Null: it has had the default plan since its beginning. */
async function currentPlan(db: Db): Promise<{ plan: Plan; from_day: string | null }> {
  const today = dayOf(db.clock.now())
  const [last] = (await queries.listStorePlans(db, { from: today, before: today })).slice(-1)
  return last ?? { plan: await getDefaultPlan(db), from_day: null }
}

export const listPlans = async (db: Db) => ({ plans: await queries.listPublicPlans(db, PLANS_MAX) })

export async function listInvoices(db: Db, status: InvoiceStatus | undefined, page: Page) {
  const { rows, shown } = await invoices.listInvoices(db, status, page)
  return { invoices: rows, ...shown }
}

/** The invoices of all stores, by the operator's login. */
export async function listAllInvoices(
  operator: AllStores,
  status: InvoiceStatus | undefined,
  page: Page,
) {
  const { rows, shown } = await invoices.listAllInvoices(operator, status, page)
  return { invoices: rows, ...shown }
}

/** An invoice with its lines, payments, credit notes and reminders. */
export async function getInvoice(db: Db, id: string): Promise<Invoice> {
  const row = isUuid(id) ? await invoices.findInvoice(db, id) : null
  if (row === null) throw refuse('invoice_not_found')
  const [lines, credit_notes, payments, reminders] = await Promise.all([
    invoices.listLines(db, id),
    invoices.listCreditNotes(db, id),
    invoices.listPayments(db, id),
    invoices.listReminders(db, id),
  ])
  const { month: _, issuer_id: _of, reminders_sent: _sent, ...invoice } = row
  return { ...invoice, lines, credit_notes, payments, reminders }
}

async function getCreditNote(db: Db, id: string): Promise<CreditNoteRow> {
  const note = isUuid(id) ? await invoices.findCreditNote(db, id) : null
  if (note === null) throw refuse('credit_note_not_found')
  return note
}

export interface PdfDeps {
  pdfs: PdfProcesses
}

interface DrawnDocument {
  name: string
  bytes: Buffer
}

const draw = ({ pdfs }: PdfDeps, db: Db, sheet: Sheet, signal: AbortSignal): Promise<Buffer> =>
  pdfs.draw(db.tenant, { kind: 'sheet', sheet, logo: null }, signal)

/** An invoice as a PDF, from the same data as the answer of the API. */
export async function drawInvoice(
  deps: PdfDeps,
  db: Db,
  id: string,
  signal: AbortSignal,
): Promise<DrawnDocument> {
  const invoice = await getInvoice(db, id)
  const name = invoice.number ?? `draft-${invoice.period}`
  return { name, bytes: await draw(deps, db, invoiceSheet(invoice), signal) }
}

export async function drawCreditNote(
  deps: PdfDeps,
  db: Db,
  id: string,
  signal: AbortSignal,
): Promise<DrawnDocument> {
  const note = await getCreditNote(db, id)
  return { name: note.number, bytes: await draw(deps, db, creditNoteSheet(note), signal) }
}

/** Reads what a store has used in a month; in the running one if none is named. */
export async function readUsage(db: Db, requested: Month | null): Promise<Usage> {
  const month = requested ?? monthOf(db.clock.now())
  const [account, store, rows, keys] = await Promise.all([
    queries.findAccount(db),
    stores.get(db),
    listUsage(db, month),
    listCallsByKey(db, month, KEYS_MAX),
  ])
  const currency = account?.currency ?? store.currency
  const usage = toMetered(rows, { month, currency })
  return {
    period: periodOf(month),
    is_final: account !== null && month < account.open_month,
    as_of: account?.counted_at ?? null,
    orders: usage.orders.quantity,
    gmv_cents: usage.gross_volume.quantity,
    currency,
    webhook_deliveries: usage.webhook_deliveries.quantity,
    storage_bytes: usage.media_bytes.quantity,
    api_calls: usage.api_calls.quantity,
    api_calls_by_key: keys,
    counted: positionsOf(usage),
  }
}

/**
 * Previews the cost of the current month if its rest were like the part that is over: with the plan of the store, and
 * with another plan as if the store had had it for the whole month.
 */
export async function preview(db: Db, other: { key: string; version: number | null } | null) {
  const now = db.clock.now()
  const month = monthOf(now)
  const [account, store, segments, rows, draft, offered] = await Promise.all([
    queries.findAccount(db),
    stores.get(db),
    segmentsOf(db, month),
    listUsage(db, month),
    invoices.findDraft(db, month),
    other === null ? null : findOffered(db, other.key, other.version),
  ])
  const currency = account?.currency ?? segments.at(-1)?.plan.currency ?? store.currency
  const charges = draft === null ? [] : await listCharges(db, draft.id)
  const usage = toMetered(rows, { month, currency })
  const since = Math.max(startOf(month), Date.parse(store.created_at))
  const as_of = account?.counted_at ?? null
  // The usage since the last count is missing, so the projection must leave out the time since then, too.
  const until = as_of === null ? now : Date.parse(as_of)
  const later = projectUsage(usage, { month, since, until })
  const quote = quoteOf(month, segments, later, charges)
  const whole = offered === null ? null : [{ plan: offered, from: 0, to: daysIn(month) }]
  const otherQuote = whole === null ? null : quoteOf(month, whole, later, charges)
  return {
    period: periodOf(month),
    as_of,
    projected_usage: quantitiesOf(later),
    to_date_cents: totalOf(linesOf(month, segments, usage)) + totalOf(charges),
    current: { ...quote, currency },
    other: otherQuote,
    // Amounts of two currencies have no difference.
    difference_cents:
      otherQuote?.currency === currency ? otherQuote.total_cents - quote.total_cents : null,
  } satisfies Preview
}

/** A plan that a merchant may ask about: a public one, or its own. */
async function findOffered(db: Db, key: string, version: number | null): Promise<Plan> {
  const [found, { plan: own }] = await Promise.all([
    isPlanKey(key) ? queries.findPlan(db, key, version) : null,
    currentPlan(db),
  ])
  const isOwn = found?.plan_key === own.plan_key && found.version === own.version
  if (found === null || !(found.is_public || isOwn)) throw refuse('plan_not_found')
  return found
}

const listCharges = async (db: Db, invoiceId: string) =>
  (await invoices.listLines(db, invoiceId)).filter(({ kind }) => kind === 'charge')

/**
 * Projects the usage to the whole month, from at least a day: an hour of a new month says nothing about the rest.
 */
function projectUsage(
  usage: MeteredUsage,
  { month, since, until }: { month: Month; since: number; until: number },
): MeteredUsage {
  const passed = Math.max(until - since, DAY_MS)
  const all = Math.max(endOf(month) - since, passed)
  const grow = (quantity: number) => projected(quantity, passed, all)
  const entries = METERS.map((meter) => {
    const { quantity, ...positions } = usage[meter]
    return [meter, { ...positions, quantity: grow(quantity) }]
  })
  return Object.fromEntries(entries) as MeteredUsage
}

const quantitiesOf = (usage: MeteredUsage) => ({
  orders: usage.orders.quantity,
  gross_volume: usage.gross_volume.quantity,
  webhook_deliveries: usage.webhook_deliveries.quantity,
  media_bytes: usage.media_bytes.quantity,
  api_calls: usage.api_calls.quantity,
})

function quoteOf(
  month: Month,
  segments: readonly Segment[],
  usage: MeteredUsage,
  charges: readonly InvoiceLine[],
): Quote {
  const plan = segments.at(-1)?.plan
  if (plan === undefined) throw new Error('a month without a plan')
  const lines = [...linesOf(month, segments, usage).map(shownLine), ...charges.map(shownLine)]
  const { plan_key, version, currency } = plan
  return { plan_key, version, currency, lines, total_cents: totalOf(lines) }
}

/** Shows a line without positions: a projected line was not counted from any. */
const shownLine = (line: PricedLine | InvoiceLine): Quote['lines'][number] => ({
  kind: line.kind,
  description: line.description,
  amount_cents: line.amount_cents,
  plan_key: line.plan_key,
  plan_version: line.plan_version,
  from_day: line.from_day,
  to_day: line.to_day,
  meter: line.meter,
  quantity: line.quantity,
  price: line.price,
})
