import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { machineTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import {
  DueMail,
  MailCopy,
  type MailKind,
  type MailReason,
  type MailState,
  type NewMail,
  OperatorMail,
  ShopperMail,
} from './schema.ts'

/** The mails that are to be sent, by business time: a gift card may be sent on a chosen day. */
export const queue = defineQueue({
  table: sql`shopper_mails`,
  columns: sql`kind, about_id, order_id, details, attempt_count, resend_count, sending_at,
               interrupted, resend_to, queued_at`,
  shape: DueMail,
})

/** A query of the time at which the next mail is to be sent. */
export const nextMail = (db: Db) => sql`
  select min(next_attempt_at) from shopper_mails where tenant_ref = ${db.tenant}`

const Result = Type.Object({
  id: Id,
  kind: Type.String(),
  state: Type.String(),
})

/** Reads the states of mails after they were attempted. */
export const listResults = (db: Db, ids: readonly string[]) =>
  db.many(
    Result,
    sql`
    select id, kind, state
      from shopper_mails
     where tenant_ref = ${db.tenant} and id = any(${ids}::uuid[])
     order by id`,
  )

/** Queues mails. A mail that was queued before, for the same thing, is left as it is. */
export const insertMails = (tx: Tx, mails: readonly NewMail[]) =>
  tx.run(sql`
    insert into shopper_mails (tenant_ref, kind, about_id, order_id, customer_ref, details,
                               next_attempt_at, queued_at)
    select ${tx.tenant}, m.kind, m.about_id, m.order_id, m.customer_ref, m.details,
           greatest(m.send_at, fd_now()), greatest(m.send_at, fd_now())
      from jsonb_to_recordset(${JSON.stringify(mails)})
           as m (kind text, about_id uuid, order_id uuid, customer_ref text, details jsonb,
                 send_at timestamptz)
        on conflict do nothing`)

interface Sending {
  recipient: string
  language: string
  interrupted: boolean
}

/** Records that the mail server is being called now, and keeps the lease. Returns whether the lease was still held. */
export const markSending = async (
  db: Db,
  { id, lease_token }: Lease,
  { recipient, language, interrupted }: Sending,
): Promise<boolean> =>
  (await db.run(sql`
    update shopper_mails
       set sending_at = ${machineTime}, recipient = ${recipient}, language = ${language},
           interrupted = ${interrupted}
     where tenant_ref = ${db.tenant} and id = ${id} and lease_token = ${lease_token}`)) === 1

export const finishSent = (db: Db, lease: Lease, copy: MailCopy | null) =>
  queue.finish(
    db,
    lease,
    sql`state = 'sent', sent_as = ${copy === null ? null : JSON.stringify(copy)}::jsonb, sent_at = fd_now(), reason = null, next_attempt_at = null, resend_to = null,
        attempt_count = attempt_count + 1, sending_at = null, last_error = null`,
  )

export const finishSkipped = (db: Db, lease: Lease, reason: MailReason) =>
  queue.finish(
    db,
    lease,
    sql`state = 'skipped', reason = ${reason}, next_attempt_at = null, sending_at = null, resend_to = null`,
  )

/** Makes a mail dead. Without an error, that of the last attempt stays. */
export const finishDead = (db: Db, lease: Lease, reason: MailReason, error: string | null) =>
  queue.finish(
    db,
    lease,
    sql`state = 'dead', reason = ${reason}, attempt_count = attempt_count + 1,
        next_attempt_at = null, sending_at = null, resend_to = null,
        last_error = coalesce(${error}, last_error)`,
  )

/** Skips a mail whose order or card has no address any more, so that the mail keeps nothing of its person. */
export const finishWithoutAddress = (db: Db, lease: Lease) =>
  queue.finish(
    db,
    lease,
    sql`state = 'skipped', reason = 'no_address', next_attempt_at = null, sending_at = null,
        recipient = null, customer_ref = null, details = null, sent_as = null, last_error = null,
        resend_to = null`,
  )

export const finishFailed = (db: Db, lease: Lease, error: string, waitSeconds: number) =>
  queue.finish(
    db,
    lease,
    sql`last_error = ${error}, attempt_count = attempt_count + 1, sending_at = null,
        next_attempt_at = fd_now() + make_interval(secs => ${waitSeconds})`,
  )

const columns = sql`
  m.id, m.kind, m.about_id, m.order_id, m.recipient, m.language, m.state, m.reason,
  m.attempt_count, m.resend_count, m.next_attempt_at, m.created_at, m.sent_at`

export interface MailFilters {
  kind?: MailKind | undefined
  state?: MailState | undefined
  order_id?: string | undefined
  /** Only used in the list over all stores. */
  tenant_ref?: string | undefined
}

const conditions = ({ kind, state, order_id, tenant_ref }: MailFilters): Sql[] => [
  ...(tenant_ref === undefined ? [] : [sql`m.tenant_ref = ${tenant_ref}`]),
  ...(kind === undefined ? [] : [sql`m.kind = ${kind}`]),
  ...(state === undefined ? [] : [sql`m.state = ${state}`]),
  ...(order_id === undefined ? [] : [sql`m.order_id = ${order_id}`]),
]

const NEWEST_FIRST = {
  table: sql`shopper_mails`,
  as: sql`m`,
  key: NEWEST_KEY,
  descending: true,
}

export const list = (db: Db, filters: MailFilters, page: Page) =>
  readList(
    db,
    {
      ...NEWEST_FIRST,
      shape: ShopperMail,
      scope: sql`m.tenant_ref = ${db.tenant}`,
      filters: conditions(filters),
      columns,
    },
    page,
  )

/** Lists the mails of all stores. Only the operator's login can read them. */
export const listOfAll = (operator: AllStores, filters: MailFilters, page: Page) =>
  readList(
    operator,
    {
      ...NEWEST_FIRST,
      shape: OperatorMail,
      scope: sql`true`,
      filters: conditions(filters),
      columns: sql`m.tenant_ref, ${columns}, m.last_error`,
    },
    page,
  )

const WithDetails = Type.Object({
  ...OperatorMail.properties,
  details: DueMail.properties.details,
})

/** Lists the newest mails of all stores, for the page of a development machine. */
export const listNewest = (operator: AllStores, limit: number) =>
  operator.many(
    WithDetails,
    sql`
    select m.tenant_ref, ${columns}, m.last_error, m.details
      from shopper_mails m
     order by m.created_at desc, m.id desc
     limit ${limit}`,
  )

export const findForShow = (operator: AllStores, id: string) =>
  operator.maybe(
    WithDetails,
    sql`
    select m.tenant_ref, ${columns}, m.last_error, m.details
      from shopper_mails m
     where m.id = ${id}`,
  )

export const lockMail = (tx: Tx, id: string) =>
  tx.maybe(
    ShopperMail,
    sql`
    select ${columns}
      from shopper_mails m
     where m.tenant_ref = ${tx.tenant} and m.id = ${id}
       for update`,
  )

/** Finds a mail of the store, with the facts that it is written from and its copy. */
export const findMail = (db: Db, id: string) =>
  db.maybe(
    Type.Object({
      ...ShopperMail.properties,
      details: DueMail.properties.details,
      sent_as: Nullable(MailCopy),
    }),
    sql`
    select ${columns}, m.details, m.sent_as
      from shopper_mails m
     where m.tenant_ref = ${db.tenant} and m.id = ${id}`,
  )

/** Queues a mail again, with the full number of attempts. */
export const requeue = (tx: Tx, id: string, to: string | null) =>
  tx.one(
    ShopperMail,
    sql`
    update shopper_mails m
       set state = 'queued', reason = null, attempt_count = 0, resend_count = resend_count + 1,
           resend_to = ${to},
           next_attempt_at = fd_now(), queued_at = fd_now(), interrupted = false, last_error = null
     where m.tenant_ref = ${tx.tenant} and m.id = ${id}
    returning ${columns}`,
  )

const OffKinds = Type.Object({ off_kinds: Type.Array(Type.String()) })

export const findSettings = (db: Db) =>
  db.maybe(
    OffKinds,
    sql`select off_kinds from shopper_mail_settings where tenant_ref = ${db.tenant}`,
  )

/** Locks the settings, and creates them if the store had none. */
export const lockSettings = (tx: Tx) =>
  tx.one(
    OffKinds,
    sql`
    insert into shopper_mail_settings as s (tenant_ref) values (${tx.tenant})
        on conflict (tenant_ref) do update set updated_at = s.updated_at
    returning off_kinds`,
  )

export const writeSettings = (tx: Tx, off_kinds: readonly string[]) =>
  tx.run(sql`
    update shopper_mail_settings set off_kinds = ${off_kinds}::text[], updated_at = fd_now()
     where tenant_ref = ${tx.tenant}`)
