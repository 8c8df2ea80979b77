import type { AllStores, Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Runner, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import {
  Account,
  Issuer,
  type NewPlan,
  Plan,
  PlanChange,
  type StorePlan,
  StorePlanRow,
} from './plan-schema.ts'
import { TakenNumber } from './schema.ts'

/** Accounts, plans and the issuer. */

const accountColumns = sql`
  open_month, currency, ledger_position, ledger_start, event_position,
  media_day, counted_at`

/** Stores whose facts are to be counted, or whose month is to be closed. */
export const accountQueue = defineQueue({
  table: sql`billing_accounts`,
  due: sql`due_at`,
  columns: accountColumns,
  shape: Account,
})

export const findAccount = (db: Db) =>
  db.maybe(
    Account,
    sql`select ${accountColumns} from billing_accounts where tenant_ref = ${db.tenant}`,
  )

/** Locks the account of a store. Every change of its usage, its drafts or its plan holds this lock. */
export const lockAccount = (tx: Tx) =>
  tx.one(
    Account,
    sql`
    select ${accountColumns} from billing_accounts where tenant_ref = ${tx.tenant} for update`,
  )

interface Progress extends Omit<Account, 'counted_at' | 'currency'> {
  /** Everything that has its number is counted. */
  isCaughtUp: boolean
  /** When the store is looked at again, in milliseconds since 1970. */
  nextAtMs: number
}

export const finishStep = (tx: Tx, lease: Lease, progress: Progress) =>
  accountQueue.finish(
    tx,
    lease,
    sql`
    open_month = ${progress.open_month}::date, ledger_position = ${progress.ledger_position},
    ledger_start = ${progress.ledger_start}, event_position = ${progress.event_position}, media_day = ${progress.media_day}::date,
    counted_at = case when ${progress.isCaughtUp} then fd_now() else counted_at end,
    due_at = ${new Date(progress.nextAtMs).toISOString()}`,
  )

export const setCurrency = (tx: Tx, currency: string) =>
  tx.run(sql`update billing_accounts set currency = ${currency} where tenant_ref = ${tx.tenant}`)

const planColumns = sql`
  billing_plans.plan_key, billing_plans.version, billing_plans.name, billing_plans.tier,
  billing_plans.currency, billing_plans.base_cents, billing_plans.meters, billing_plans.features,
  billing_plans.is_public, billing_plans.created_at`

/** Inserts the next version of a plan. Of two at the same time, the second fails by its primary key. */
export const insertPlan = (db: Runner, plan: NewPlan, createdBy: string) =>
  db.one(
    Plan,
    sql`
    insert into billing_plans (plan_key, version, name, tier, currency, base_cents, meters,
                               features, is_public, created_by)
    select ${plan.plan_key}, coalesce(max(version), 0) + 1, ${plan.name}, ${plan.tier},
           ${plan.currency}, ${plan.base_cents}::bigint, ${JSON.stringify(plan.meters)}::jsonb,
           ${plan.features ?? []}::text[], ${plan.is_public ?? false}::boolean, ${createdBy}
      from billing_plans
     where plan_key = ${plan.plan_key}
    returning ${planColumns}`,
  )

/** A plan in a version, or its newest one. */
export const findPlan = (db: Runner, plan_key: string, version: number | null) =>
  db.maybe(
    Plan,
    sql`
    select ${planColumns}
      from billing_plans
     where plan_key = ${plan_key} and (${version}::integer is null or version = ${version})
     order by version desc
     limit 1`,
  )

/** The newest version of each plan that every merchant may see. The operator has few. */
export const listPublicPlans = (db: Runner, limit: number) =>
  db.many(
    Plan,
    sql`
    select ${planColumns}
      from billing_plans
      join (select plan_key, max(version) as version
              from billing_plans
             group by plan_key) as newest using (plan_key, version)
     where is_public
     order by base_cents, plan_key
     limit ${limit}`,
  )

export const listPlans = (operator: AllStores, page: Page) =>
  readList(
    operator,
    {
      shape: Plan,
      table: sql`billing_plans`,
      as: sql`billing_plans`,
      scope: sql`true`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns: planColumns,
    },
    page,
  )

export const insertStorePlan = (tx: Tx, plan: Plan, day: string, setBy: string) =>
  tx.run(sql`
    insert into billing_store_plans (tenant_ref, plan_key, plan_version, from_day, set_by)
    values (${tx.tenant}, ${plan.plan_key}, ${plan.version}, ${day}::date, ${setBy})`)

/**
 * Lists the plans of a store that apply to the days from `from` on, before `before`: the plan on `from`, and the plans
 * that began later.
 */
export const listStorePlans = async (
  db: Db,
  { from, before }: { from: string; before: string },
): Promise<StorePlan[]> => {
  const rows = await db.many(
    StorePlanRow,
    sql`
    with begun as (
      (select id, plan_key, plan_version, from_day, created_at
         from billing_store_plans
        where tenant_ref = ${db.tenant} and from_day <= ${from}::date
        order by from_day desc, created_at desc, id desc
        limit 1)
       union all
      select id, plan_key, plan_version, from_day, created_at
        from billing_store_plans
       where tenant_ref = ${db.tenant} and from_day > ${from}::date and from_day < ${before}::date
    )
    select begun.from_day, ${planColumns}
      from begun
      join billing_plans on billing_plans.plan_key = begun.plan_key
                        and billing_plans.version = begun.plan_version
     order by begun.from_day, begun.created_at, begun.id`,
  )
  return rows.map(({ from_day, ...plan }) => ({ from_day, plan }))
}

export const listPlanChanges = (db: Db, limit: number) =>
  db.many(
    PlanChange,
    sql`
    select plan_key, plan_version as version, from_day, created_at as set_at
      from billing_store_plans
     where tenant_ref = ${db.tenant}
     order by from_day desc, created_at desc, id desc
     limit ${limit}`,
  )

const issuerColumns = sql`
  id, name, lines, note, invoice_prefix, credit_prefix, payment_days, reminders, updated_at`

export const findIssuer = (db: Runner, id: string) =>
  db.maybe(Issuer, sql`select ${issuerColumns} from billing_issuers where id = ${id}`)

/** Changes the issuer, or creates it. Its numbers continue. */
export const putIssuer = (db: Runner, issuer: Omit<Issuer, 'updated_at'>) =>
  db.one(
    Issuer,
    sql`
    insert into billing_issuers (id, name, lines, note, invoice_prefix, credit_prefix,
                                 payment_days, reminders)
    values (${issuer.id}, ${issuer.name}, ${issuer.lines}::text[], ${issuer.note},
            ${issuer.invoice_prefix}, ${issuer.credit_prefix}, ${issuer.payment_days},
            ${JSON.stringify(issuer.reminders)}::jsonb)
        on conflict (id) do update
           set name = excluded.name, lines = excluded.lines, note = excluded.note,
               invoice_prefix = excluded.invoice_prefix, credit_prefix = excluded.credit_prefix,
               payment_days = excluded.payment_days, reminders = excluded.reminders,
               updated_at = fd_now()
    returning ${issuerColumns}`,
  )

const DIGITS = 6

const taken = (prefix: Sql, sequence: Sql) => sql`
  id as issuer_id, ${sequence} as sequence,
  ${prefix} || lpad((${sequence})::text, greatest(${DIGITS}::integer, length((${sequence})::text)), '0')
    as number,
  jsonb_build_object('name', name, 'lines', to_jsonb(lines), 'note', note) as issuer, payment_days,
  (reminders -> 0 ->> 'days')::integer as first_reminder_days`

/**
 * Takes the next number of an invoice. The row stays locked until the transaction ends, and a rollback undoes
 * the change: so there is no number without its invoice. It is called last, because all stores wait for the
 * row.
 */
export const takeInvoiceNumber = (tx: Tx, issuer: string) =>
  tx.maybe(
    TakenNumber,
    sql`
    update billing_issuers set next_invoice = next_invoice + 1
     where id = ${issuer}
    returning ${taken(sql`invoice_prefix`, sql`next_invoice - 1`)}`,
  )

/** Takes the next number of a credit note, which has numbers of its own, like `takeInvoiceNumber`. */
export const takeCreditNumber = (tx: Tx, issuer: string) =>
  tx.maybe(
    TakenNumber,
    sql`
    update billing_issuers set next_credit_note = next_credit_note + 1
     where id = ${issuer}
    returning ${taken(sql`credit_prefix`, sql`next_credit_note - 1`)}`,
  )
