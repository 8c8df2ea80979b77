import type { Tx } from '../../db/database.ts'
import { DAY_MS } from '../../kernel/time.ts'
import type { Lease } from '../../platform/leases.ts'
import * as invoices from './invoice-queries.ts'
import { ISSUER, sendToOwner } from './invoices.ts'
import { reminderMail } from './mails.ts'
import type { Reminder } from './plan-schema.ts'
import { findIssuer } from './queries.ts'

/** Reminders of unpaid invoices, by the issuer's ladder. They are mails and nothing else: no store is suspended. */

/** The reminder that is to be sent for an invoice at a time, and when the next one is. */
export interface NextReminder {
  /** The step to take now. Null: none. */
  step: number | null
  /** How many reminders the invoice has had after this step. */
  sent: number
  nextAt: string | null
}

/**
 * Chooses the last step that is due, and the time of the next one. Earlier steps are left out: after an absence the
 * owner gets one mail and not all at once.
 */
export function planReminder(
  ladder: readonly Reminder[],
  { dueAtMs, sent, nowMs }: { dueAtMs: number; sent: number; nowMs: number },
): NextReminder {
  const atMs = ({ days }: Reminder) => dueAtMs + days * DAY_MS
  const last = ladder.findLastIndex((each) => atMs(each) <= nowMs)
  const behind = Math.max(sent, last + 1)
  const next = ladder[behind]
  return {
    step: last >= sent ? last : null,
    sent: behind,
    nextAt: next === undefined ? null : new Date(atMs(next)).toISOString(),
  }
}

/**
 * Takes the due step of an invoice. The mail is queued in the same transaction, so that a step is mailed once, whenever
 * a process is killed. Returns 0 if the lease was lost.
 */
export async function remind(tx: Tx, lease: Lease): Promise<number> {
  const invoice = await invoices.lockReminded(tx, lease)
  if (invoice === null) return 0
  const { status, due_at, reminders_sent } = invoice
  const isOwed = status === 'open' && invoice.balance_cents > 0
  const ladder = (await findIssuer(tx, ISSUER))?.reminders ?? []
  const plan = planReminder(isOwed ? ladder : [], {
    dueAtMs: Date.parse(due_at ?? ''),
    sent: reminders_sent,
    nowMs: tx.clock.now(),
  })
  const reminder = plan.step === null ? undefined : ladder[plan.step]
  if (reminder !== undefined && plan.step !== null) {
    const recipient = await sendToOwner(tx, reminderMail(invoice, reminder.text))
    await invoices.insertReminder(tx, { invoice_id: invoice.id, step: plan.step, recipient })
  }
  await invoices.finishReminder(tx, lease, plan)
  return 1
}
