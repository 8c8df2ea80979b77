import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { machineTime, type Runner, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { CheckSubject, DomainRow, type DomainStatus, Holder } from './schema.ts'

const verification = sql`json_build_object('type', 'txt', 'name', '_fd-verify.' || hostname,
                                           'value', verification_value) as verification`

const columns = sql`domains.id, hostname, status, ${verification}, tls_status, last_checked_at, last_error,
                    is_primary, verified_at, activated_at, lapsed_at, removed_at, quarantined_until,
                    domains.created_at, updated_at`

/** How long a hostname may stay pending: longer than the slowest change at a registrar takes. */
const pendingFor = sql`interval '72 hours'`

/** How long old links and DNS records may still lead to a removed hostname. */
const quarantineFor = sql`interval '30 days'`

/** The time of the next check. Most merchants set the record in the first hour. */
const nextCheck = sql`
  case when status = 'pending_verification' and created_at > ${machineTime} - interval '1 hour'
         then ${machineTime} + interval '5 minutes'
       when status = 'pending_verification' then ${machineTime} + interval '1 hour'
       when status = 'active' and verified_at is not null then ${machineTime} + interval '1 day'
  end`

/** Serialises the changes of one store's domains. Take it before any lock on a hostname. */
export const lockDomains = (tx: Tx) => lock(tx, `${tx.tenant}/domains`)

/** Serialises the transactions of all stores that give this hostname to a store. */
export const lockHostname = (tx: Tx, hostname: string) => lock(tx, `hostname/${hostname}`)

const lock = (tx: Tx, name: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)

export const findHolder = (db: Runner, hostname: string) =>
  db.maybe(Holder, sql`select * from fd_find_hostname(${hostname})`)

export const insertDomain = (db: Db, hostname: string, value: string) =>
  db.one(
    DomainRow,
    sql`
    insert into domains (tenant_ref, hostname, verification_value)
    values (${db.tenant}, ${hostname}, ${value})
    returning ${columns}`,
  )

export const findDomain = (db: Db, id: string) =>
  db.maybe(
    DomainRow,
    sql`select ${columns} from domains where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const findClaim = (db: Db, hostname: string) =>
  db.maybe(
    DomainRow,
    sql`
    select ${columns}
      from domains
     where tenant_ref = ${db.tenant} and hostname = ${hostname} and status <> 'removed'`,
  )

const isInUse = sql`status <> 'removed'`

/** Lists the domains of a store, newest first. Removed domains only if the status names them. */
export const listDomains = (db: Db, status: DomainStatus | undefined, page: Page) =>
  readList(
    db,
    {
      shape: DomainRow,
      table: sql`domains`,
      as: sql`domains`,
      scope: sql`domains.tenant_ref = ${db.tenant}`,
      filters: [status === undefined ? isInUse : sql`status = ${status}`],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

export const countInUse = (db: Db) =>
  db.one(
    Type.Object({ in_use: Type.Integer() }),
    sql`select count(*) as in_use from domains where tenant_ref = ${db.tenant} and ${isInUse}`,
  )

const update = (tx: Tx, id: string, assignments: Sql) =>
  tx.one(
    DomainRow,
    sql`
    update domains set updated_at = ${machineTime}, ${assignments}
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

/** Activates a hostname whose record was found, if there is no TLS front that reports certificates. */
export const activateVerified = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`status = 'active', tls_status = 'external', verified_at = ${machineTime},
        activated_at = ${machineTime}, last_checked_at = ${machineTime}, last_error = null,
        next_check_at = ${machineTime} + interval '1 day'`,
  )

/** Records that the DNS record of a hostname was found. The hostname is served once there is a certificate for it. */
export const markVerified = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`status = 'verified', verified_at = ${machineTime}, last_checked_at = ${machineTime},
        last_error = null, next_check_at = null`,
  )

export const markProvisioning = (tx: Tx, id: string) => update(tx, id, sql`status = 'provisioning'`)

/** Activates a hostname for which a request came through the TLS front. */
export const activateServed = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`status = 'active', tls_status = 'external', activated_at = ${machineTime},
        next_check_at = ${machineTime} + interval '1 day'`,
  )

/**
 * Activates a hostname by an operator. It has no record that could lapse, so it is never checked
 * again.
 */
export const activateUnverified = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`status = 'active', tls_status = 'external', activated_at = ${machineTime},
        last_error = null, next_check_at = null`,
  )

/** Records that the DNS record of an active hostname exists, or exists again. */
export const recordFound = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`verified_at = coalesce(verified_at, ${machineTime}), last_checked_at = ${machineTime},
        last_error = null, lapsed_at = null, next_check_at = ${machineTime} + interval '1 day'`,
  )

/** Records a failed check. The hostname stays pending, or fails if it was pending for too long. */
export const recordRefusal = (tx: Tx, id: string, error: 'record_not_found' | 'hostname_taken') =>
  update(
    tx,
    id,
    sql`last_checked_at = ${machineTime}, last_error = ${error},
        status = case when created_at <= ${machineTime} - ${pendingFor} then 'failed'
                      else status end,
        next_check_at = case when created_at > ${machineTime} - ${pendingFor}
                             then ${nextCheck} end`,
  )

/**
 * Records that an active hostname has no record. It stays active; `lapsed` only if it had one
 * before.
 */
export const recordLapse = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`last_checked_at = ${machineTime}, next_check_at = ${nextCheck},
        last_error = case when verified_at is null then 'record_not_found' else 'record_lapsed' end,
        lapsed_at = case when verified_at is not null then coalesce(lapsed_at, ${machineTime}) end`,
  )

/** Records that no DNS server responded. An active hostname is checked again within the hour. */
export const recordOutage = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`last_error = 'dns_unavailable',
        next_check_at = least(${nextCheck}, case when next_check_at is not null
                                                 then ${machineTime} + interval '1 hour' end)`,
  )

/** Clears the primary hostname. */
export const clearPrimary = (tx: Tx) =>
  tx.run(sql`
    update domains set is_primary = false, updated_at = ${machineTime}
     where tenant_ref = ${tx.tenant} and is_primary`)

export const markPrimary = (tx: Tx, id: string) => update(tx, id, sql`is_primary = true`)

const removedFields = sql`status = 'removed', is_primary = false, last_error = null, next_check_at = null,
                 removed_at = coalesce(removed_at, ${machineTime})`

/**
 * Removes a hostname. Only one that was active is quarantined: a mere claim blocks no other store.
 */
export const removeDomain = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`${removedFields},
        quarantined_until = case when activated_at is not null
                                 then ${machineTime} + ${quarantineFor} end`,
  )

/** Removes a hostname without quarantine, so that another store can claim it at once. */
export const releaseDomain = (tx: Tx, id: string) =>
  update(tx, id, sql`${removedFields}, quarantined_until = null`)

/** Ends the quarantines of a hostname, which a store may have removed several times. Returns how many. */
export const endQuarantines = (tx: Tx, hostname: string) =>
  tx.run(sql`
    update domains set quarantined_until = null, updated_at = ${machineTime}
     where tenant_ref = ${tx.tenant} and hostname = ${hostname} and quarantined_until is not null`)

/** The hostnames that are due for a check. */
export const checks = defineQueue({
  table: sql`domains`,
  due: sql`next_check_at`,
  time: machineTime,
  columns: sql`hostname, status, ${verification}, last_checked_at`,
  shape: CheckSubject,
})

/** Ends the lease, or throws if it was lost. The result is written in the same transaction. */
export const endCheck = (tx: Tx, lease: Lease) =>
  checks.finish(tx, lease, sql`updated_at = ${machineTime}`)
