import { mapViolations } from '../../db/constraints.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { hourOfDay } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as invoices from './invoice-queries.ts'
import { ISSUER } from './invoices.ts'
import { monthFor } from './meter.ts'
import { dayOf } from './months.ts'
import * as queries from './queries.ts'
import type { InvoiceRow, InvoiceStatus, NewCharge, NewCreditNote, NewPayment } from './schema.ts'
import { getInvoice } from './service.ts'

/**
 * The changes that the operator makes to the invoices of a store: charges, payments and credit notes. None of them
 * changes an issued invoice: decision 0057.
 */

/** The caller of an operation, with its claim on the idempotency key. */
export interface Caller {
  actor: audit.Actor
  claim: idempotency.WonClaim
}

/** Charges of one invoice. A document has room for these, and a reader can check no more. */
const CHARGES_MAX = 200

/**
 * Returns the status of an issued invoice, by the amount that is left to pay. An invoice that was credited as a whole
 * is void if nothing is paid; an earlier payment counts until it is paid back.
 */
export function statusOf({ total_cents, paid_cents, credited_cents }: Sums): InvoiceStatus {
  if (total_cents - credited_cents - paid_cents > 0) return 'open'
  return credited_cents === total_cents && paid_cents === 0 ? 'void' : 'paid'
}

type Sums = Pick<InvoiceRow, 'total_cents' | 'paid_cents' | 'credited_cents'>

/** Refuses to bill a store before the issuer of invoices is set. */
export async function requireIssuer(tx: Tx): Promise<void> {
  if ((await queries.findIssuer(tx, ISSUER)) === null) throw refuse('issuer_missing')
}

/** Refuses to bill a sandbox. */
export async function requireBilled(tx: Tx): Promise<void> {
  if ((await stores.get(tx)).sandbox) throw refuse('sandbox_not_billed')
}

/** Adds a one-off line to the draft of the running month. */
export function charge(
  db: TenantDb,
  { actor, claim }: Caller,
  { description, amount_cents }: NewCharge,
) {
  return db.transaction('billing: charge', async (tx) => {
    const account = await queries.lockAccount(tx)
    await requireBilled(tx)
    await requireIssuer(tx)
    const currency = account.currency ?? (await stores.lockCurrency(tx))
    if (account.currency === null) await queries.setCurrency(tx, currency)
    const month = monthFor(account, tx.clock.now())
    const known = await invoices.findDraft(tx, month)
    const draft = known ?? (await invoices.insertDraft(tx, month, currency))
    if ((await invoices.countCharges(tx, draft.id)).charges >= CHARGES_MAX) {
      throw refuse('invoice_full')
    }
    const row = { description, amount_cents, invoice_id: draft.id, ...signed(actor, claim) }
    const added = await once(invoices.insertCharge(tx, row))
    await invoices.sumDraft(tx, draft.id)
    await audit.record(tx, actor, {
      action: 'billing.charged',
      entity: `invoice:${draft.id}`,
      after: { charge_id: added.id, description, amount_cents },
    })
    return answer(tx, claim, { charge: added })
  })
}

/** Records that an invoice was paid, in whole or in part, or that the operator has paid something back. */
export function recordPayment(
  db: TenantDb,
  { actor, claim }: Caller,
  id: string,
  request: NewPayment,
) {
  const { kind = 'payment', amount_cents, reference = null } = request
  return db.transaction('billing: record a payment', async (tx) => {
    const invoice = await lockIssued(tx, id)
    const today = dayOf(tx.clock.now())
    const paid_on = request.paid_on ?? today
    if (hourOfDay('UTC', paid_on, 0) === null || paid_on > today) {
      throw invalidBody('paid_on', 'must be a day of the calendar, and not in the future')
    }
    const { balance_cents } = invoice
    if (amount_cents > (kind === 'payment' ? balance_cents : -balance_cents)) {
      throw refuse('amount_exceeds_balance', { body: { balance_cents } })
    }
    const row = { kind, amount_cents, reference, paid_on, invoice_id: id }
    const payment = await once(invoices.insertPayment(tx, { ...row, ...signed(actor, claim) }))
    const paid_cents = invoice.paid_cents + (kind === 'payment' ? amount_cents : -amount_cents)
    await settle(tx, { ...invoice, paid_cents })
    await audit.record(tx, actor, {
      action: `billing.${kind}_recorded`,
      entity: `invoice:${id}`,
      after: { payment_id: payment.id, amount_cents, paid_on },
    })
    return answer(tx, claim, { payment, invoice: await getInvoice(tx, id) })
  })
}

/** Credits an invoice, in whole or in part. The invoice itself stays as it is. */
export function credit(
  db: TenantDb,
  { actor, claim }: Caller,
  id: string,
  { amount_cents, reason }: NewCreditNote,
) {
  return db.transaction('billing: credit', async (tx) => {
    const invoice = await lockIssued(tx, id)
    const creditable_cents = invoice.total_cents - invoice.credited_cents
    const amount = amount_cents ?? creditable_cents
    if (amount > creditable_cents || amount === 0) {
      throw refuse('amount_exceeds_invoice', { body: { creditable_cents } })
    }
    const { issuer_id, recipient } = invoice
    const taken = await queries.takeCreditNumber(tx, issuer_id ?? ISSUER)
    if (taken === null || recipient === null) throw new Error('an issued invoice has both parties')
    const row = { invoice_id: id, amount_cents: amount, reason, recipient }
    const credit_note = await once(
      invoices.insertCreditNote(tx, { ...row, ...signed(actor, claim) }, taken),
    )
    await settle(tx, { ...invoice, credited_cents: invoice.credited_cents + amount })
    await audit.record(tx, actor, {
      action: 'billing.credited',
      entity: `invoice:${id}`,
      after: { credit_note_id: credit_note.id, number: taken.number, amount_cents: amount },
      reason,
    })
    return answer(tx, claim, { credit_note, invoice: await getInvoice(tx, id) })
  })
}

async function lockIssued(tx: Tx, id: string): Promise<InvoiceRow> {
  const invoice = isUuid(id) ? await invoices.lockInvoice(tx, id) : null
  if (invoice === null) throw refuse('invoice_not_found')
  if (invoice.status === 'draft') throw refuse('invoice_not_issued')
  return invoice
}

const settle = (tx: Tx, invoice: InvoiceRow) =>
  invoices.settleInvoice(tx, invoice.id, { ...invoice, status: statusOf(invoice) })

/**
 * The columns that name the actor and the idempotency key of a change: a key does one thing, also after its
 * stored answer was deleted.
 */
const signed = ({ name }: audit.Actor, { key }: idempotency.WonClaim) => ({
  created_by: name,
  request_key: key,
})

const once = <T>(insert: Promise<T>): Promise<T> =>
  mapViolations(insert, {
    billing_charges_once: 'idempotency_key_reused',
    billing_payments_once: 'idempotency_key_reused',
    billing_credit_notes_once: 'idempotency_key_reused',
  })

const answer = (tx: Tx, claim: idempotency.WonClaim, body: object) =>
  idempotency.finish(tx, claim, 201, JSON.stringify(body))
