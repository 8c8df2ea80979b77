import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { areOldest, listStoresWithOld } from '../../platform/store-lists.ts'
import {
  type CartItem,
  DueReminder,
  Reminder,
  ReminderSettings,
  type ReminderState,
  type StopReason,
} from './schema.ts'

export const queue = defineQueue({
  table: sql`checkout_reminders`,
  columns: sql`email, email_folded, customer_ref, items, sent_count, began_at`,
  shape: DueReminder,
})

/** A query of the time at which the next reminder is due. */
export const nextReminder = (db: Db) => sql`
  select min(next_attempt_at) from checkout_reminders
   where tenant_ref = ${db.tenant} and next_attempt_at is not null`

const settingColumns = sql`
  enabled, basis, first_after_minutes, second_after_minutes, law_confirmed_by, law_confirmed_at`

export const findSettings = (db: Db) =>
  db.maybe(
    ReminderSettings,
    sql`
    select ${settingColumns} from checkout_reminder_settings where tenant_ref = ${db.tenant}`,
  )

/** Locks the settings, and creates them if the store has none. */
export const lockSettings = (tx: Tx) =>
  tx.one(
    ReminderSettings,
    sql`
    insert into checkout_reminder_settings as s (tenant_ref) values (${tx.tenant})
        on conflict (tenant_ref) do update set updated_at = s.updated_at
    returning ${settingColumns}`,
  )

export const writeSettings = (tx: Tx, to: ReminderSettings) =>
  tx.one(
    ReminderSettings,
    sql`
    update checkout_reminder_settings
       set (${settingColumns}) = row(${to.enabled}, ${to.basis}, ${to.first_after_minutes},
                                     ${to.second_after_minutes}, ${to.law_confirmed_by},
                                     ${to.law_confirmed_at}),
           updated_at = fd_now()
     where tenant_ref = ${tx.tenant}
    returning ${settingColumns}`,
  )

/** Deletes all carts of a store, which may only be kept while reminders are on. */
export const deleteAll = (tx: Tx) =>
  tx.run(sql`delete from checkout_reminders where tenant_ref = ${tx.tenant}`)

export interface SeenCart {
  email: string
  email_folded: string
  customer_ref: string | null
  items: readonly CartItem[]
}

/**
 * Records a cart if the store has reminders, by one statement. A cart that is seen again before its first mail
 * starts to wait again; after its first mail, it keeps its time. Once the reminders of a cart have ended, another
 * cart of the person is recorded only a week after the last mail.
 */
export const keepCart = (db: Db, cart: SeenCart) =>
  db.run(sql`
    insert into checkout_reminders as r (tenant_ref, email, email_folded, customer_ref, items,
                                         next_attempt_at)
    select s.tenant_ref, ${cart.email}, ${cart.email_folded}, ${cart.customer_ref},
           ${JSON.stringify(cart.items)}::jsonb,
           fd_now() + make_interval(mins => s.first_after_minutes)
      from checkout_reminder_settings s
     where s.tenant_ref = ${db.tenant} and s.enabled
        on conflict (tenant_ref, email_folded) do update
       set email = excluded.email, customer_ref = excluded.customer_ref, items = excluded.items,
           seen_at = fd_now(),
           began_at = case when r.state = 'waiting' then r.began_at else fd_now() end,
           state = 'waiting', reason = null,
           sent_count = case when r.state = 'waiting' then r.sent_count else 0 end,
           next_attempt_at = case when r.state = 'waiting' and r.sent_count > 0
                                  then r.next_attempt_at else excluded.next_attempt_at end
     where r.state = 'waiting' or r.last_sent_at is null
        or r.last_sent_at < fd_now() - interval '7 days'`)

const Found = Type.Object({ found: Type.Boolean() })

/** Whether the person has ordered since the cart was first seen. A payment that failed is no order. */
export const hasOrdered = (db: Db, { email_folded, customer_ref, began_at }: DueReminder) =>
  db.one(
    Found,
    sql`
    select exists (select from orders o
                    where o.tenant_ref = ${db.tenant} and o.customer_ref = ${customer_ref}
                      and o.created_at >= ${began_at}::timestamptz and o.status <> 'payment_failed')
        or exists (select from orders o
                    where o.tenant_ref = ${db.tenant} and o.email_folded = ${email_folded}
                      and o.created_at >= ${began_at}::timestamptz and o.status <> 'payment_failed')
        as found`,
  )

/** Whether an address has bought something before. */
export const hasBought = (db: Db, email_folded: string) =>
  db.one(
    Found,
    sql`
    select exists (select from orders o
                    where o.tenant_ref = ${db.tenant} and o.email_folded = ${email_folded}
                      and o.placed_at is not null) as found`,
  )

export const finishStopped = (db: Db, lease: Lease, reason: StopReason) =>
  queue.finish(
    db,
    lease,
    sql`state = 'stopped', reason = ${reason}, next_attempt_at = null, items = '[]'`,
  )

/**
 * Marks a mail as sent before it is sent: a reminder that a crash loses is better than one that comes twice.
 * Returns whether the lease was still held. The lease goes on until the mail was sent.
 */
export const markSent = async (
  db: Db,
  { id, lease_token }: Lease,
  secondAfterMinutes: number | null,
): Promise<boolean> =>
  (await db.run(sql`
    update checkout_reminders
       set sent_count = sent_count + 1, last_sent_at = fd_now(),
           state = case when ${secondAfterMinutes}::integer is null then 'stopped' else state end,
           reason = case when ${secondAfterMinutes}::integer is null then 'done' end,
           items = case when ${secondAfterMinutes}::integer is null then '[]' else items end,
           next_attempt_at = fd_now() + make_interval(mins => ${secondAfterMinutes}::integer)
     where tenant_ref = ${db.tenant} and id = ${id} and lease_token = ${lease_token}`)) === 1

export const endSending = (db: Db, lease: Lease, error: string | null) =>
  queue.finish(db, lease, sql`last_error = ${error}`)

/** Lists the reminders of a store, newest first. */
export const list = (db: Db, state: ReminderState | undefined, page: Page) =>
  readList(
    db,
    {
      shape: Reminder,
      table: sql`checkout_reminders`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant}`,
      filters: state === undefined ? [] : [sql`r.state = ${state}`],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`r.id, r.email, r.customer_ref, r.state, r.reason, r.sent_count,
                   r.next_attempt_at, r.last_sent_at, r.seen_at, r.created_at`,
    },
    page,
  )

const OLD = {
  table: sql`checkout_reminders`,
  only: sql`true`,
  since: sql`seen_at`,
  before: sql`fd_now() - interval '30 days'`,
}

export const listStoresWithOldCarts = (worker: DueLists) => listStoresWithOld(worker, OLD)

export const deleteOld = (db: Db, limit: number) =>
  db.run(sql`delete from checkout_reminders where ${areOldest(db, OLD, limit)}`)

interface Person {
  customer_ref: string
  /** The addresses, folded. */
  emails: readonly string[]
}

export const eraseOf = (tx: Tx, { customer_ref, emails }: Person) =>
  tx.run(sql`
    delete from checkout_reminders
     where tenant_ref = ${tx.tenant}
       and (customer_ref = ${customer_ref} or email_folded = any(${emails}::text[]))`)

const ExportedCart = Type.Object({
  ...Reminder.properties,
  items: DueReminder.properties.items,
})

export const listOf = (db: Db, customer_ref: string) =>
  db.many(
    ExportedCart,
    sql`
    select id, email, customer_ref, state, reason, sent_count, next_attempt_at, last_sent_at, seen_at,
           created_at, items
      from checkout_reminders
     where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref}
     order by id`,
  )
