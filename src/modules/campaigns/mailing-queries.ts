import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { machineTime, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { defineQueue, LEASE_SECONDS, type Lease } from '../../platform/leases.ts'
import {
  DueMailing,
  MAILING_STATES,
  QueuedRecipient,
  RECIPIENT_STATES,
  Recipient,
  type RecipientState,
} from './schema.ts'

/** The mails of campaigns: the progress of each mailing, and its recipients. */

/** The mailings that a worker has something to do for, by business time. */
export const queue = defineQueue({
  table: sql`campaign_mailings`,
  due: sql`due_at`,
  columns: sql`state`,
  shape: DueMailing,
})

/** A query of the time at which the next mailing has something to do. */
export const nextMailing = (db: Db) => sql`
  select min(due_at) from campaign_mailings where tenant_ref = ${db.tenant} and due_at is not null`

/** Starts the mails of a campaign, or continues where they stopped. Returns the progress of the mailing. */
export const startMailing = (tx: Tx, campaign_id: string) =>
  tx.one(
    DueMailing,
    sql`
    insert into campaign_mailings as m (tenant_ref, id) values (${tx.tenant}, ${campaign_id})
        on conflict (tenant_ref, id) do update
       set stopped = false, due_at = case when m.state = 'done' then null else fd_now() end
    returning state`,
  )

/**
 * Stops the mails of a campaign: no more recipients are claimed. The lease stays, so that no other worker counts the
 * mails that are being sent as interrupted. Once the lease has ended, a worker finds out what became of them.
 */
export const stopMailing = (tx: Tx, campaign_id: string) =>
  tx.run(sql`
    update campaign_mailings
       set stopped = true, due_at = case when cardinality(in_flight) > 0 then fd_now() end
     where tenant_ref = ${tx.tenant} and id = ${campaign_id}`)

const LockedMailing = Type.Object({
  state: Type.Enum([...MAILING_STATES]),
  listed_to: Type.String(),
  in_flight: Type.Array(Id),
  stopped: Type.Boolean(),
  /** Whether the caller still has the lease, which is then extended. */
  is_held: Type.Boolean(),
})

/**
 * Locks a mailing, and extends its lease if the caller has it. All changes of a mailing and its recipients
 * are made under this lock. A transaction that locks the campaign, too, locks it before.
 */
export const lockLeased = (tx: Tx, { id, lease_token }: Lease) => {
  const isHeld = sql`coalesce(lease_token = ${lease_token}, false)`
  return tx.one(
    LockedMailing,
    sql`
    update campaign_mailings
       set lease_until = case when ${isHeld}
                              then ${machineTime} + make_interval(secs => ${LEASE_SECONDS})
                              else lease_until end
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning state, listed_to, in_flight, stopped, ${isHeld} as is_held`,
  )
}

/** Finds up to which address the recipients of a campaign are written down. */
export const findListed = (tx: Tx, id: string) =>
  tx.one(
    Type.Object({ state: Type.Enum([...MAILING_STATES]), listed_to: Type.String() }),
    sql`
    select state, listed_to
      from campaign_mailings
     where tenant_ref = ${tx.tenant} and id = ${id}`,
  )

export interface NewRecipient {
  email: string
  email_folded: string
  customer_ref: string | null
}

/** Writes recipients down. An address that is written down already stays as it is. */
export const insertRecipients = (tx: Tx, campaign_id: string, people: readonly NewRecipient[]) =>
  tx.run(sql`
    insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded, customer_ref)
    select ${tx.tenant}, ${campaign_id}::uuid, p.email, p.email_folded, p.customer_ref
      from unnest(${people.map(({ email }) => email)}::text[],
                  ${people.map(({ email_folded }) => email_folded)}::text[],
                  ${people.map(({ customer_ref }) => customer_ref)}::text[])
           as p (email, email_folded, customer_ref)
        on conflict (tenant_ref, campaign_id, email_folded) do nothing`)

interface Listed {
  listed_to: string
  recipients: number
  left_out: number
  isLast: boolean
}

/** Moves the position up to which people are listed, in the transaction that has written the recipients up to it. */
export const moveCheckpoint = (tx: Tx, id: string, listed: Listed) =>
  tx.run(sql`
    update campaign_mailings
       set listed_to = ${listed.listed_to},
           recipients_count = recipients_count + ${listed.recipients}::bigint,
           left_out_count = left_out_count + ${listed.left_out}::bigint,
           state = case when ${listed.isLast} then 'sending' else state end
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** The position of a claim that begins with the first recipient. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Lists the next recipients that are due, without those that are being sent. */
export const listQueued = (
  tx: Tx,
  campaign_id: string,
  { after, limit }: { after: string; limit: number },
) =>
  tx.many(
    QueuedRecipient,
    sql`
    select id, email, attempt_count
      from campaign_recipients
     where tenant_ref = ${tx.tenant} and campaign_id = ${campaign_id} and state = 'queued'
       and id > ${after}::uuid and next_attempt_at <= fd_now()
       and id <> all ((select in_flight
                         from campaign_mailings
                        where tenant_ref = ${tx.tenant} and id = ${campaign_id})::uuid[])
     order by id
     limit ${limit}`,
  )

interface Skip {
  ids: readonly string[]
  reason: string
}

export const skipRecipients = (tx: Tx, campaign_id: string, { ids, reason }: Skip) =>
  tx.run(sql`
    update campaign_recipients
       set state = 'skipped', reason = ${reason}, next_attempt_at = null
     where tenant_ref = ${tx.tenant} and campaign_id = ${campaign_id}
       and id = any(${ids}::uuid[]) and state = 'queued'`)

/**
 * Marks the recipients that a killed worker had claimed: whether their mails were sent is not known. Returns
 * how many.
 */
export const giveUpInFlight = (tx: Tx, campaign_id: string, ids: readonly string[]) =>
  tx.run(sql`
    update campaign_recipients
       set state = 'unknown', reason = 'interrupted', next_attempt_at = null,
           attempt_count = attempt_count + 1
     where tenant_ref = ${tx.tenant} and campaign_id = ${campaign_id}
       and id = any(${ids}::uuid[]) and state = 'queued'`)

export const countUnknown = (tx: Tx, id: string, unknown: number) =>
  tx.run(sql`
    update campaign_mailings
       set in_flight = '{}', unknown_count = unknown_count + ${unknown}::bigint
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** The result of one claimed recipient. If it is queued again, it is tried after a wait. */
export interface Result {
  id: string
  state: RecipientState
  reason: string | null
  error: string | null
  wait_seconds: number | null
  /** Whether it counts as an attempt: not if the mail server accepted no mails at all. */
  is_attempt: boolean
}

/** How a recipient has changed. */
export interface Change {
  was: RecipientState
  state: RecipientState
}

/**
 * Writes results, and returns the changes. A recipient is `unknown` if a worker that took over meanwhile has given it
 * up: the result is known now, and replaces that. A recipient that was erased meanwhile stays erased.
 */
export async function recordResults(
  tx: Tx,
  campaign_id: string,
  results: readonly Result[],
): Promise<Change[]> {
  const written = await writeResults(tx, { campaign_id, was: 'queued', results })
  if (written.length === results.length) return written
  const known = results
    .filter(({ state }) => state !== 'queued')
    .map((result) => ({ ...result, is_attempt: false }))
  return [...written, ...(await writeResults(tx, { campaign_id, was: 'unknown', results: known }))]
}

interface Written {
  campaign_id: string
  was: RecipientState
  results: readonly Result[]
}

/**
 * Writes results. It finds the rows between the first and the last id: those of a wave stand side by side. PostgreSQL
 * has no statistics of a campaign that has just begun and expects one row, so that by a join or an array it would read
 * all of them each time.
 */
async function writeResults(tx: Tx, { campaign_id, was, results }: Written): Promise<Change[]> {
  const ids = results.map(({ id }) => id).sort()
  const rows = await tx.many(
    Type.Object({ state: Type.Enum([...RECIPIENT_STATES]) }),
    sql`
    update campaign_recipients r
       set state = result.state, reason = result.reason, last_error = result.error,
           attempt_count = r.attempt_count + case when result.is_attempt then 1 else 0 end,
           next_attempt_at = case when result.state = 'queued'
                                  then fd_now() + make_interval(secs => result.wait_seconds) end,
           sent_at = case when result.state = 'sent' then fd_now() end
      from jsonb_to_recordset(${JSON.stringify(results)}::jsonb)
             as result (id uuid, state text, reason text, error text, wait_seconds integer,
                        is_attempt boolean)
     where r.tenant_ref = ${tx.tenant} and r.campaign_id = ${campaign_id} and r.state = ${was}
       and r.id between ${ids.at(0)}::uuid and ${ids.at(-1)}::uuid and r.id = result.id
       and r.email is not null
    returning r.state`,
  )
  return rows.map(({ state }) => ({ was, state }))
}

/** The changes of a mailing's counts. */
export type Counts = Record<'sent' | 'skipped' | 'failed' | 'unknown', number>

interface Move {
  /** The recipients that are being sent from now on. They are written before any mail server is called. */
  claimed: readonly string[]
  /** The recipients whose results are written. */
  finished: readonly string[]
  counts: Counts
}

export const moveInFlight = (tx: Tx, id: string, { claimed, finished, counts }: Move) =>
  tx.run(sql`
    update campaign_mailings
       set in_flight = array(select each from unnest(in_flight) as each
                              where each <> all (${finished}::uuid[])) || ${claimed}::uuid[],
           sent_count = sent_count + ${counts.sent}::bigint,
           failed_count = failed_count + ${counts.failed}::bigint,
           skipped_count = skipped_count + ${counts.skipped}::bigint,
           unknown_count = unknown_count + ${counts.unknown}::bigint
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/**
 * Queues recipients again whose mail is `unknown`, some at a time. The lock of the mailing comes first, as
 * for all changes of recipients. Returns how many.
 */
export const requeueUnknown = async (tx: Tx, id: string, limit: number): Promise<number> => {
  await tx.run(sql`
    select from campaign_mailings where tenant_ref = ${tx.tenant} and id = ${id} for update`)
  const queued = await tx.run(sql`
    update campaign_recipients
       set state = 'queued', reason = null, last_error = null, next_attempt_at = fd_now()
     where tenant_ref = ${tx.tenant} and campaign_id = ${id} and state = 'unknown'
       and id = any(array(select id
                            from campaign_recipients
                           where tenant_ref = ${tx.tenant} and campaign_id = ${id}
                             and state = 'unknown' and email is not null
                           order by id
                           limit ${limit}))`)
  await tx.run(sql`
    update campaign_mailings
       set unknown_count = unknown_count - ${queued}::bigint,
           state = case when state = 'done' and ${queued}::bigint > 0 then 'sending' else state end
     where tenant_ref = ${tx.tenant} and id = ${id}`)
  return queued
}

/** Finds when the next recipient of a mailing is due; null if no recipient is left. */
export const findNextDue = (tx: Tx, campaign_id: string) =>
  tx.one(
    Type.Object({ at: Nullable(Timestamp) }),
    sql`
    select min(next_attempt_at) as at
      from campaign_recipients
     where tenant_ref = ${tx.tenant} and campaign_id = ${campaign_id} and state = 'queued'`,
  )

/**
 * Ends the lease. The mailing is due again at the given time, so that other stores have their turn first; a mailing
 * that was stopped meanwhile stays stopped.
 */
export const finishTurn = (tx: Tx, lease: Lease, at: string | null, waitSeconds: number) =>
  queue.finish(
    tx,
    lease,
    sql`due_at = case when not stopped
                      then greatest(${at}::timestamptz,
                                    fd_now() + make_interval(secs => ${waitSeconds})) end`,
  )

export const finishMailing = (tx: Tx, lease: Lease) =>
  queue.finish(tx, lease, sql`state = 'done', due_at = null`)

/** Lists the recipients of a campaign, newest first. */
export const listRecipients = (
  db: Db,
  { campaign_id, state }: { campaign_id: string; state: RecipientState | undefined },
  page: Page,
) =>
  readList(
    db,
    {
      shape: Recipient,
      table: sql`campaign_recipients`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant} and r.campaign_id = ${campaign_id}`,
      filters: state === undefined ? [] : [sql`r.state = ${state}`],
      key: [{ name: sql`id`, type: 'uuid' }],
      descending: true,
      columns: sql`r.id, r.email, r.customer_ref, r.state, r.reason, r.attempt_count,
                   r.next_attempt_at, r.sent_at, r.created_at`,
    },
    page,
  )
