import { type Static, Type } from 'typebox'
import type { AllStores, Db, Tx } from '../db/database.ts'
import { NEWEST_KEY, readList } from '../db/list.ts'
import { type Runner, type Sql, sql } from '../db/sql.ts'
import type { Page } from '../kernel/page.ts'
import { Id, Nullable, OpenObject, Shared, Timestamp } from '../kernel/schema.ts'

/** The name under which an act is recorded, and the request with which it came. */
export interface Actor {
  /** `operator`, `system`, `owner:<id>`, `merchant_key:<credential id>`. */
  name: string
  correlationId: string | null
}

export const SYSTEM: Actor = { name: 'system', correlationId: null }

export const AuditEntry = Shared(
  'AuditEntry',
  Type.Object({
    id: Id,
    tenant_ref: Type.String(),
    actor: Type.String(),
    action: Type.String(),
    entity: Type.String(),
    before: Nullable(OpenObject),
    after: Nullable(OpenObject),
    reason: Nullable(Type.String()),
    correlation_id: Nullable(Id),
    created_at: Timestamp,
  }),
)
export type AuditEntry = Static<typeof AuditEntry>

interface NewEntry {
  action: string
  entity: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
  reason?: string | undefined
}

/** Records a change in the audit log, in the transaction that makes it. */
export const record = (tx: Tx, actor: Actor, entry: NewEntry) =>
  tx.run(sql`
    insert into audit_log (tenant_ref, actor, action, entity, before, after, reason, correlation_id)
    values (${tx.tenant}, ${actor.name}, ${entry.action}, ${entry.entity},
            ${json(entry.before)}, ${json(entry.after)}, ${entry.reason ?? null},
            ${actor.correlationId})`)

/** Records many changes of one kind with one statement. */
export const recordAll = (tx: Tx, actor: Actor, entries: readonly NewEntry[]) =>
  tx.run(sql`
    insert into audit_log (tenant_ref, actor, action, entity, before, after, reason, correlation_id)
    select ${tx.tenant}, ${actor.name}, e.action, e.entity, e.before, e.after, e.reason,
           ${actor.correlationId}::uuid
      from jsonb_to_recordset(${JSON.stringify(entries)})
           as e (action text, entity text, before jsonb, after jsonb, reason text)`)

const json = (value: Record<string, unknown> | undefined) =>
  value === undefined ? null : JSON.stringify(value)

export interface AuditFilters {
  actor?: string | undefined
  action?: string | undefined
  /** Only used in lists over all stores. */
  tenant_ref?: string | undefined
  /** Timestamps; the end is not included. */
  from?: string | undefined
  to?: string | undefined
}

/** Lists the audit entries of one store, newest first. */
export const listOfStore = (db: Db, filters: AuditFilters, page: Page) =>
  list(db, sql`a.tenant_ref = ${db.tenant}`, conditions(filters), page)

/** Lists the audit entries of all stores. Only the operator's database login can read them. */
export const listOfAll = (operator: AllStores, filters: AuditFilters, page: Page) =>
  list(operator, sql`true`, conditions(filters), page)

async function list(db: Runner, scope: Sql, filters: Sql[], page: Page) {
  const { rows, shown } = await readList(
    db,
    {
      shape: AuditEntry,
      table: sql`audit_log`,
      as: sql`a`,
      scope,
      filters,
      key: NEWEST_KEY,
      descending: true,
      columns: sql`a.id, a.tenant_ref, a.actor, a.action, a.entity, a.before, a.after, a.reason,
                   a.correlation_id, a.created_at`,
    },
    page,
  )
  return { entries: rows, ...shown }
}

function conditions({ actor, action, tenant_ref, from, to }: AuditFilters): Sql[] {
  const where: Sql[] = []
  if (tenant_ref !== undefined) where.push(sql`a.tenant_ref = ${tenant_ref}`)
  if (actor !== undefined) where.push(sql`a.actor = ${actor}`)
  if (action !== undefined) where.push(sql`a.action = ${action}`)
  if (from !== undefined) where.push(sql`a.created_at >= ${from}`)
  if (to !== undefined) where.push(sql`a.created_at < ${to}`)
  return where
}
