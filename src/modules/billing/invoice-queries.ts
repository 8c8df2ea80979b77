import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import {
  Charge,
  CreditNote,
  CreditNoteRow,
  InvoiceLine,
  InvoiceRow,
  type InvoiceStatus,
  InvoiceSummary,
  type Month,
  type Party,
  Payment,
  type PricedLine,
  StoreInvoice,
  type TakenNumber,
} from './schema.ts'

/** Invoices, and the payments, credit notes and reminders recorded for them. */

const summaryColumns = sql`
  billing_invoices.id, number, status, to_char(month, 'YYYY-MM') as period, currency, total_cents,
  paid_cents, credited_cents, total_cents - credited_cents - paid_cents as balance_cents, issued_at,
  due_at, billing_invoices.created_at,
  '/v1/merchant/billing/invoices/' || billing_invoices.id || '.pdf' as pdf_url`

const rowColumns = sql`${summaryColumns}, month, issuer_id, issuer, recipient, reminders_sent`

export const findInvoice = (db: Db, id: string) =>
  db.maybe(
    InvoiceRow,
    sql`
    select ${rowColumns} from billing_invoices where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const lockInvoice = (tx: Tx, id: string) =>
  tx.maybe(
    InvoiceRow,
    sql`
    select ${rowColumns}
      from billing_invoices
     where tenant_ref = ${tx.tenant} and id = ${id}
       for update`,
  )

export const findDraft = (db: Db, month: Month) =>
  db.maybe(
    InvoiceRow,
    sql`
    select ${rowColumns}
      from billing_invoices
     where tenant_ref = ${db.tenant} and month = ${month}::date and status = 'draft'`,
  )

export const insertDraft = (tx: Tx, month: Month, currency: string) =>
  tx.one(
    InvoiceRow,
    sql`
    insert into billing_invoices (tenant_ref, month, currency)
    values (${tx.tenant}, ${month}::date, ${currency})
    returning ${rowColumns}`,
  )

/** Deletes the lines of plans and usage of a draft, before they are written again. Its charges stay. */
export const deletePricedLines = (tx: Tx, invoiceId: string) =>
  tx.run(sql`
    delete from billing_invoice_lines
     where tenant_ref = ${tx.tenant} and invoice_id = ${invoiceId} and kind <> 'charge'`)

export const insertPricedLines = (tx: Tx, invoiceId: string, lines: readonly PricedLine[]) =>
  tx.run(sql`
    insert into billing_invoice_lines
           (tenant_ref, invoice_id, kind, description, amount_cents, plan_key, plan_version,
            from_day, to_day, meter, quantity, price, from_position, to_position)
    select ${tx.tenant}, ${invoiceId}, l.*
      from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
           as l (kind text, description text, amount_cents bigint, plan_key text,
                 plan_version integer, from_day date, to_day date, meter text, quantity bigint,
                 price jsonb, from_position bigint, to_position bigint)`)

/** Stores the sum of a draft's lines as its total. */
export const sumDraft = (tx: Tx, invoiceId: string) =>
  tx.one(
    InvoiceRow,
    sql`
    update billing_invoices
       set total_cents = (select coalesce(sum(amount_cents), 0)::bigint
                            from billing_invoice_lines
                           where tenant_ref = ${tx.tenant} and invoice_id = ${invoiceId})
     where tenant_ref = ${tx.tenant} and id = ${invoiceId} and status = 'draft'
    returning ${rowColumns}`,
  )

/** Removes a draft that will not be issued, with its lines. */
export const deleteDraft = (tx: Tx, invoiceId: string) =>
  tx.run(sql`
    with lines as (
      delete from billing_invoice_lines
       where tenant_ref = ${tx.tenant} and invoice_id = ${invoiceId}
    )
    delete from billing_invoices
     where tenant_ref = ${tx.tenant} and id = ${invoiceId} and status = 'draft'`)

export interface NewCharge {
  invoice_id: string
  description: string
  amount_cents: number
  created_by: string
  request_key: string
}

export const insertCharge = (tx: Tx, charge: NewCharge) =>
  tx.one(
    Charge,
    sql`
    with line as (
      insert into billing_invoice_lines (tenant_ref, invoice_id, kind, description, amount_cents,
                                         created_by, request_key)
      values (${tx.tenant}, ${charge.invoice_id}, 'charge', ${charge.description},
              ${charge.amount_cents}, ${charge.created_by}, ${charge.request_key})
      returning *
    )
    select line.id, line.invoice_id, to_char(i.month, 'YYYY-MM') as period, line.description,
           line.amount_cents, i.currency, line.created_at
      from line
      join billing_invoices as i on i.tenant_ref = line.tenant_ref and i.id = line.invoice_id`,
  )

export const countCharges = (tx: Tx, invoiceId: string) =>
  tx.one(
    Type.Object({ charges: Type.Integer() }),
    sql`
    select count(*) as charges
      from billing_invoice_lines
     where tenant_ref = ${tx.tenant} and invoice_id = ${invoiceId} and kind = 'charge'`,
  )

/** Issues a draft. From here on it never changes. */
export const issueDraft = (tx: Tx, id: string, taken: TakenNumber, recipient: Party) =>
  tx.one(
    InvoiceRow,
    sql`
    update billing_invoices
       set status = 'open', issuer_id = ${taken.issuer_id}, sequence = ${taken.sequence},
           number = ${taken.number}, issuer = ${JSON.stringify(taken.issuer)}::jsonb,
           recipient = ${JSON.stringify(recipient)}::jsonb, issued_at = fd_now(),
           due_at = fd_now() + make_interval(days => ${taken.payment_days}),
           remind_at = fd_now()
                       + make_interval(days => ${taken.payment_days}
                                               + ${taken.first_reminder_days}::integer)
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'draft'
    returning ${rowColumns}`,
  )

interface Settled {
  status: InvoiceStatus
  paid_cents: number
  credited_cents: number
}

/**
 * Stores the status of an issued invoice, and how much of it is paid and credited. Reminders are sent for open invoices
 * only.
 */
export const settleInvoice = (
  tx: Tx,
  id: string,
  { status, paid_cents, credited_cents }: Settled,
) =>
  tx.run(sql`
    update billing_invoices
       set status = ${status}, paid_cents = ${paid_cents}, credited_cents = ${credited_cents},
           remind_at = case when ${status}::text = 'open' then remind_at end
     where tenant_ref = ${tx.tenant} and id = ${id}`)

const lineColumns = sql`
  id, kind, description, amount_cents, plan_key, plan_version, from_day, to_day, meter, quantity,
  price, from_position, to_position, created_at`

/** Lists the lines of an invoice: the plan first, then usage, then charges as they were made. */
export const listLines = (db: Db, invoiceId: string) =>
  db.many(
    InvoiceLine,
    sql`
    select ${lineColumns}
      from billing_invoice_lines
     where tenant_ref = ${db.tenant} and invoice_id = ${invoiceId}
     order by array_position(array['plan', 'usage', 'charge'], kind), from_day,
              array_position(array['orders', 'gross_volume', 'webhook_deliveries', 'media_bytes',
                                   'api_calls'], meter),
              created_at, id`,
  )

const creditColumns = sql`
  n.id, n.number, n.amount_cents, n.reason, n.created_at,
  '/v1/merchant/billing/credit-notes/' || n.id || '.pdf' as pdf_url`

export const listCreditNotes = (db: Db, invoiceId: string) =>
  db.many(
    CreditNote,
    sql`
    select ${creditColumns}
      from billing_credit_notes as n
     where n.tenant_ref = ${db.tenant} and n.invoice_id = ${invoiceId}
     order by n.created_at, n.id`,
  )

export const findCreditNote = (db: Db, id: string) =>
  db.maybe(
    CreditNoteRow,
    sql`
    select ${creditColumns}, n.issuer, n.recipient, i.currency, i.number as invoice_number,
           i.issued_at as invoice_issued_at
      from billing_credit_notes as n
      join billing_invoices as i on i.tenant_ref = n.tenant_ref and i.id = n.invoice_id
     where n.tenant_ref = ${db.tenant} and n.id = ${id}`,
  )

export interface NewCreditNoteRow {
  invoice_id: string
  amount_cents: number
  reason: string
  recipient: Party
  created_by: string
  request_key: string
}

export const insertCreditNote = (tx: Tx, note: NewCreditNoteRow, taken: TakenNumber) =>
  tx.one(
    CreditNote,
    sql`
    insert into billing_credit_notes as n
           (tenant_ref, invoice_id, issuer_id, sequence, number, issuer, recipient, amount_cents,
            reason, created_by, request_key)
    values (${tx.tenant}, ${note.invoice_id}, ${taken.issuer_id}, ${taken.sequence}, ${taken.number},
            ${JSON.stringify(taken.issuer)}::jsonb, ${JSON.stringify(note.recipient)}::jsonb,
            ${note.amount_cents}, ${note.reason}, ${note.created_by}, ${note.request_key})
    returning ${creditColumns}`,
  )

const paymentColumns = sql`id, kind, amount_cents, paid_on, reference, created_at`

export const listPayments = (db: Db, invoiceId: string) =>
  db.many(
    Payment,
    sql`
    select ${paymentColumns}
      from billing_payments
     where tenant_ref = ${db.tenant} and invoice_id = ${invoiceId}
     order by created_at, id`,
  )

export interface NewPaymentRow extends Pick<Payment, 'kind' | 'amount_cents' | 'paid_on'> {
  invoice_id: string
  reference: string | null
  created_by: string
  request_key: string
}

export const insertPayment = (tx: Tx, payment: NewPaymentRow) =>
  tx.one(
    Payment,
    sql`
    insert into billing_payments (tenant_ref, invoice_id, kind, amount_cents, paid_on, reference,
                                  created_by, request_key)
    values (${tx.tenant}, ${payment.invoice_id}, ${payment.kind}, ${payment.amount_cents},
            ${payment.paid_on}::date, ${payment.reference}, ${payment.created_by},
            ${payment.request_key})
    returning ${paymentColumns}`,
  )

const newest = {
  table: sql`billing_invoices`,
  as: sql`billing_invoices`,
  key: NEWEST_KEY,
  descending: true,
}

const ofStatus = (status: InvoiceStatus | undefined) =>
  status === undefined ? [] : [sql`status = ${status}`]

export const listInvoices = (db: Db, status: InvoiceStatus | undefined, page: Page) =>
  readList(
    db,
    {
      ...newest,
      shape: InvoiceSummary,
      scope: sql`billing_invoices.tenant_ref = ${db.tenant}`,
      filters: ofStatus(status),
      columns: summaryColumns,
    },
    page,
  )

/** Lists the invoices of every store, with the operator's login. */
export const listAllInvoices = (
  operator: AllStores,
  status: InvoiceStatus | undefined,
  page: Page,
) =>
  readList(
    operator,
    {
      ...newest,
      shape: StoreInvoice,
      scope: sql`true`,
      filters: ofStatus(status),
      columns: sql`tenant_ref, ${summaryColumns}`,
    },
    page,
  )

const Reminded = Type.Object({
  number: Nullable(Type.String()),
  due_at: Nullable(Timestamp),
})

/** Unpaid invoices whose next reminder is due. */
export const reminderQueue = defineQueue({
  table: sql`billing_invoices`,
  due: sql`remind_at`,
  columns: sql`number, due_at`,
  shape: Reminded,
})

/** Locks the invoice of a lease. Returns null where the lease was lost. */
export const lockReminded = (tx: Tx, { id, lease_token }: Lease) =>
  tx.maybe(
    InvoiceRow,
    sql`
    select ${rowColumns}
      from billing_invoices
     where tenant_ref = ${tx.tenant} and id = ${id} and lease_token = ${lease_token}
       for update`,
  )

export const insertReminder = (
  tx: Tx,
  { invoice_id, step, recipient }: { invoice_id: string; step: number; recipient: string | null },
) =>
  tx.run(sql`
    insert into billing_reminders (tenant_ref, invoice_id, step, recipient)
    values (${tx.tenant}, ${invoice_id}, ${step}, ${recipient})`)

export const finishReminder = (
  tx: Tx,
  lease: Lease,
  { sent, nextAt }: { sent: number; nextAt: string | null },
) =>
  reminderQueue.finish(tx, lease, sql`reminders_sent = ${sent}, remind_at = ${nextAt}::timestamptz`)

const SentReminder = Type.Object({
  step: Type.Integer(),
  recipient: Nullable(Type.String()),
  created_at: Timestamp,
})

export const listReminders = (db: Db, invoiceId: string) =>
  db.many(
    SentReminder,
    sql`
    select step, recipient, created_at
      from billing_reminders
     where tenant_ref = ${db.tenant} and invoice_id = ${invoiceId}
     order by step`,
  )
