import type { Db, Tx } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import * as documents from '../documents/service.ts'
import * as stores from '../stores/service.ts'
import * as invoices from './invoice-queries.ts'
import { billingMail, invoiceMail } from './mails.ts'
import { toMetered } from './meter.ts'
import { listUsage } from './meter-queries.ts'
import { cutMonth, linesOf, totalOf } from './month-price.ts'
import { nextMonth } from './months.ts'
import type { Account, Plan } from './plan-schema.ts'
import * as queries from './queries.ts'
import type { InvoiceRow, Month, Party, PricedLine } from './schema.ts'

/** The one issuer of an installation. Its row numbers the invoices of all stores. */
export const ISSUER = 'platform'

/** The plan of stores that the operator has given no other. It costs nothing. */
const DEFAULT_PLAN = { plan_key: 'default', version: 1 }

export async function getDefaultPlan(db: Db): Promise<Plan> {
  const found = await queries.findPlan(db, DEFAULT_PLAN.plan_key, DEFAULT_PLAN.version)
  if (found === null) throw new Error('the default plan is missing')
  return found
}

/** The plans that a store has in a month, by days. */
export async function segmentsOf(db: Db, month: Month) {
  const [plans, otherwise] = await Promise.all([
    queries.listStorePlans(db, { from: month, before: nextMonth(month) }),
    getDefaultPlan(db),
  ])
  return cutMonth(month, plans, otherwise)
}

/** Prices plan and usage of a month as they are now. */
async function priceMonth(tx: Tx, month: Month, currency: string): Promise<PricedLine[]> {
  const segments = await segmentsOf(tx, month)
  const usage = toMetered(await listUsage(tx, month), { month, currency })
  return linesOf(month, segments, usage)
}

/**
 * Writes the draft of a month again from its present plan and usage. Charges stay. Returns null if there is no draft,
 * because the month costs nothing. The caller has the lock of the account.
 */
export async function writeDraft(
  tx: Tx,
  { currency }: Pick<Account, 'currency'>,
  month: Month,
): Promise<InvoiceRow | null> {
  const draft = await invoices.findDraft(tx, month)
  // No plan and no charge of this store has ever cost anything.
  if (currency === null) return null
  const lines = await priceMonth(tx, month, currency)
  if (draft === null && totalOf(lines) === 0) return null
  const { id } = draft ?? (await invoices.insertDraft(tx, month, currency))
  await invoices.deletePricedLines(tx, id)
  if (lines.length > 0) await invoices.insertPricedLines(tx, id, lines)
  return invoices.sumDraft(tx, id)
}

/**
 * Closes a month: issues its invoice, unless it costs nothing. The number, the invoice and the mail are
 * written by one transaction, which also moves the account to the next month: so a month is issued once,
 * whenever a process is killed (decision 0057).
 */
export async function closeMonth(tx: Tx, account: Account): Promise<InvoiceRow | null> {
  const draft = await writeDraft(tx, account, account.open_month)
  if (draft === null) return null
  if (draft.total_cents === 0) {
    await invoices.deleteDraft(tx, draft.id)
    return null
  }
  const { letterhead } = await documents.readStore(tx)
  const [name = letterhead.name, ...lines] = letterhead.seller
  const recipient: Party = { name, lines }
  const taken = await queries.takeInvoiceNumber(tx, ISSUER)
  if (taken === null) throw new Error('something is billed, and there is no issuer')
  const issued = await invoices.issueDraft(tx, draft.id, taken, recipient)
  await audit.record(tx, audit.SYSTEM, {
    action: 'billing.invoice_issued',
    entity: `invoice:${issued.id}`,
    after: { number: issued.number, period: issued.period, total_cents: issued.total_cents },
  })
  await sendToOwner(tx, invoiceMail(issued))
  return issued
}

/** Removes the draft of a month in which the store became a sandbox: it is not billed. */
export async function discardDraft(tx: Tx, month: Month): Promise<void> {
  const draft = await invoices.findDraft(tx, month)
  if (draft === null) return
  await invoices.deleteDraft(tx, draft.id)
  await audit.record(tx, audit.SYSTEM, {
    action: 'billing.draft_discarded',
    entity: `invoice:${draft.id}`,
    before: { period: draft.period, total_cents: draft.total_cents },
    reason: 'The store is a sandbox.',
  })
}

/** Mails the owner of the store. Returns the address; null if mail can be sent to none. */
export async function sendToOwner(
  tx: Tx,
  letter: Pick<mail.Mail, 'subject' | 'text'>,
): Promise<string | null> {
  const { owner_email, display_name } = await stores.get(tx)
  if (owner_email === null) return null
  try {
    await mail.send(tx, {
      ...billingMail(letter, display_name),
      to: owner_email,
      tenant_ref: tx.tenant,
    })
    return owner_email
  } catch (error) {
    // The invoice is issued even where the owner's address is invalid.
    if (error instanceof mail.InvalidMailError) return null
    throw error
  }
}
