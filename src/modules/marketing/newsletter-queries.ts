import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { areOldest, listStoresWithOld } from '../../platform/store-lists.ts'
import { Subscriber, type SubscriberState } from './newsletter-schema.ts'

const columns = sql`s.id, s.email, s.status, s.source, s.requested_at, s.confirmed_at,
                    s.unsubscribed_at, s.created_at`

interface RequestedSubscriber {
  email: string
  email_folded: string
  source: string | null
  form_url: string | null
  /** The network of the reader. */
  ip: string | null
}

/** Records a request. Returns null if the address is already on the list. */
export const request = (
  tx: Tx,
  { email, email_folded, source, form_url, ip }: RequestedSubscriber,
) =>
  tx.maybe(
    Type.Object({ id: Id }),
    sql`
    insert into newsletter_subscribers as s (tenant_ref, email, email_folded, source, form_url,
                                             requested_ip)
    values (${tx.tenant}, ${email}, ${email_folded}, ${source}, ${form_url}, ${ip})
    on conflict (tenant_ref, email_folded) do update
       set email = excluded.email, source = excluded.source, form_url = excluded.form_url,
           requested_ip = excluded.requested_ip, requested_at = fd_now()
     where s.status <> 'subscribed'
    returning s.id`,
  )

export const find = (db: Db, id: string) =>
  db.maybe(
    Subscriber,
    sql`
    select ${columns} from newsletter_subscribers s
     where s.tenant_ref = ${db.tenant} and s.id = ${id}`,
  )

/** Locks a subscriber. An erasure then waits, so that this transaction cannot write the address again after it. */
export const lock = (tx: Tx, id: string) =>
  tx.maybe(
    Subscriber,
    sql`
    select ${columns} from newsletter_subscribers s
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}
       for update`,
  )

/** Lists the subscribers, newest first. */
export const list = (
  db: Db,
  {
    status,
    email_folded,
  }: { status: SubscriberState | undefined; email_folded: string | undefined },
  page: Page,
) =>
  readList(
    db,
    {
      shape: Subscriber,
      table: sql`newsletter_subscribers`,
      as: sql`s`,
      scope: sql`s.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`s.status = ${status}`]),
        ...(email_folded === undefined ? [] : [sql`s.email_folded = ${email_folded}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Lists the subscribers of one status by id, in slices. */
export const listAfter = (db: Db, status: SubscriberState, after: string, limit: number) =>
  db.many(
    Subscriber,
    sql`
    select ${columns} from newsletter_subscribers s
     where s.tenant_ref = ${db.tenant} and s.status = ${status} and s.id > ${after}
     order by s.id
     limit ${limit}`,
  )

const byEmail = (db: Db, emails: readonly string[]) =>
  sql`s.tenant_ref = ${db.tenant} and s.email_folded = any(${emails}::text[])`

/** Lists the subscribers with these folded addresses. */
export const listByEmail = (db: Db, emails: readonly string[]) =>
  db.many(
    Subscriber,
    sql`select ${columns} from newsletter_subscribers s where ${byEmail(db, emails)} order by s.id`,
  )

export const erase = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`delete from newsletter_subscribers s where ${byEmail(tx, emails)}`)

/** Requests without a confirmation: the address may be a stranger's. */
const UNCONFIRMED = {
  table: sql`newsletter_subscribers`,
  only: sql`status = 'pending'`,
  since: sql`requested_at`,
  before: sql`fd_now() - interval '30 days'`,
}

export const listStoresWithUnconfirmed = (worker: DueLists) =>
  listStoresWithOld(worker, UNCONFIRMED)

/** A query of the time from which on the oldest request is deleted. */
export const nextUnconfirmed = (db: Db) => sql`
  select min(requested_at) + interval '30 days 1 millisecond'
    from newsletter_subscribers
   where tenant_ref = ${db.tenant} and ${UNCONFIRMED.only}`

export const deleteUnconfirmed = (db: Db, limit: number) =>
  db.run(sql`delete from newsletter_subscribers where ${areOldest(db, UNCONFIRMED, limit)}`)
