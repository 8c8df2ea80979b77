import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../../../db/database.ts'
import { readList } from '../../../../db/list.ts'
import { sql } from '../../../../db/sql.ts'
import type { Page } from '../../../../kernel/page.ts'
import { Id, Timestamp } from '../../../../kernel/schema.ts'
import { CardFacts } from '../schema.ts'
import { SimCharge } from './schema.ts'

/**
 * The statements of the simulated gateway, which uses its own tables and none of the platform's.
 */

export type EntryKind = SimCharge['journal'][number]['kind']

const Row = Type.Object({
  ...Type.Omit(SimCharge, ['journal']).properties,
  fingerprint: Type.String(),
  is_settled: Type.Boolean(),
  is_disputed: Type.Boolean(),
})
export type ChargeRow = Static<typeof Row>

/** The columns of a charge. Captures settle after a day, as at a real gateway. */
const columns = sql`
  txn_id, ref, amount_cents, currency, outcome, code, auth_code, avs, cvv, card, fingerprint,
  captured_cents, refunded_cents, vault_id, captured_at, voided_at, dispute_at, created_at,
  voided_at is null and coalesce(captured_at < fd_now() - interval '1 day', false) as is_settled,
  coalesce(dispute_at <= fd_now(), false) as is_disputed`

export interface NewCharge {
  ref: string
  amount_cents: number
  currency: string
  outcome: SimCharge['outcome']
  code: string
  auth_code: string | null
  avs: string | null
  cvv: string | null
  card: CardFacts
  fingerprint: string
  vault_id: string | null
  charged_vault_id: string | null
  isDisputed: boolean
}

/** Records the charge and its authorisation. Returns null if the reference was sent before. */
export const insertCharge = (db: Db, c: NewCharge) =>
  db.maybe(
    Row,
    sql`
    with charge as (
      insert into sim_charges
             (tenant_ref, ref, amount_cents, currency, outcome, code, auth_code, avs, cvv, card,
              fingerprint, vault_id, charged_vault_id, dispute_at)
      values (${db.tenant}, ${c.ref}, ${c.amount_cents}, ${c.currency}, ${c.outcome}, ${c.code},
              ${c.auth_code}, ${c.avs}, ${c.cvv}, ${JSON.stringify(c.card)}, ${c.fingerprint},
              ${c.vault_id}, ${c.charged_vault_id},
              case when ${c.isDisputed}::boolean then fd_now() + interval '1 day' end)
      on conflict (tenant_ref, ref) do nothing
      returning *
    ), entry as (
      insert into sim_journal (tenant_ref, txn_id, ref, kind, amount_cents, outcome)
      select tenant_ref, txn_id, ref, 'authorize', amount_cents, outcome from charge
    )
    select ${columns} from charge`,
  )

/** How often a stored card was charged, for cards that follow a script. */
export const countCharges = (db: Db, vault_id: string) =>
  db.one(
    Type.Object({ charges: Type.Integer() }),
    sql`
    select count(*)::int as charges
      from sim_charges
     where tenant_ref = ${db.tenant} and charged_vault_id = ${vault_id}`,
  )

const byRef = (db: Db, ref: string) =>
  sql`select ${columns} from sim_charges where tenant_ref = ${db.tenant} and ref = ${ref}`

export const findByRef = (db: Db, ref: string) => db.maybe(Row, byRef(db, ref))
export const getByRef = (db: Db, ref: string) => db.one(Row, byRef(db, ref))

export const findByTxn = (db: Db, txn_id: string) =>
  db.maybe(
    Row,
    sql`select ${columns} from sim_charges where tenant_ref = ${db.tenant} and txn_id = ${txn_id}`,
  )

/** Locks a charge, so that its changes happen one after another. */
export const lockCharge = (tx: Tx, txn_id: string) =>
  tx.maybe(
    Row,
    sql`
    select ${columns}
      from sim_charges
     where tenant_ref = ${tx.tenant} and txn_id = ${txn_id}
       for update`,
  )

/** Captures an authorisation, once. Returns null if it cannot be captured, or was captured before. */
export const capture = (
  db: Db,
  { txn_id, ref, amount_cents }: { txn_id: string; ref: string; amount_cents: number },
) =>
  db.maybe(
    Row,
    sql`
    with charge as (
      update sim_charges set captured_cents = ${amount_cents}, captured_at = fd_now()
       where tenant_ref = ${db.tenant} and txn_id = ${txn_id} and outcome = 'approved'
         and voided_at is null and captured_at is null and amount_cents >= ${amount_cents}
         and not exists (
               select from sim_journal
                where tenant_ref = ${db.tenant} and ref = ${ref} and kind = 'capture')
      returning *
    ), entry as (
      insert into sim_journal (tenant_ref, txn_id, ref, kind, amount_cents, outcome)
      select tenant_ref, txn_id, ${ref}, 'capture', captured_cents, outcome from charge
    )
    select ${columns} from charge`,
  )

export const addRefunded = (tx: Tx, txn_id: string, amount_cents: number) =>
  tx.run(sql`
    update sim_charges set refunded_cents = refunded_cents + ${amount_cents}
     where tenant_ref = ${tx.tenant} and txn_id = ${txn_id}`)

export const setVoided = (tx: Tx, txn_id: string) =>
  tx.run(sql`
    update sim_charges set voided_at = fd_now()
     where tenant_ref = ${tx.tenant} and txn_id = ${txn_id}`)

const Entry = Type.Object({
  txn_id: Id,
  ref: Id,
  kind: SimCharge.properties.journal.items.properties.kind,
  amount_cents: Type.Integer(),
  outcome: SimCharge.properties.outcome,
  created_at: Timestamp,
})

export const insertEntry = (
  tx: Tx,
  charge: Pick<ChargeRow, 'txn_id' | 'outcome'>,
  entry: { ref: string; kind: EntryKind; amount_cents: number },
) =>
  tx.run(sql`
    insert into sim_journal (tenant_ref, txn_id, ref, kind, amount_cents, outcome)
    values (${tx.tenant}, ${charge.txn_id}, ${entry.ref}, ${entry.kind}, ${entry.amount_cents},
            ${charge.outcome})`)

export const findEntry = (db: Db, ref: string, kind: EntryKind) =>
  db.maybe(
    Entry,
    sql`
    select txn_id, ref, kind, amount_cents, outcome, created_at
      from sim_journal
     where tenant_ref = ${db.tenant} and ref = ${ref} and kind = ${kind}`,
  )

export const listRefunds = (db: Db, txn_id: string) =>
  db.many(
    Entry,
    sql`
    select txn_id, ref, kind, amount_cents, outcome, created_at
      from sim_journal
     where tenant_ref = ${db.tenant} and txn_id = ${txn_id} and kind = 'refund'
     order by created_at, id`,
  )

const DayRow = Type.Object({
  ref: Id,
  txn_id: Id,
  kind: Type.Enum(['charge', 'refund']),
  is_active: Type.Boolean(),
  amount_cents: Type.Integer(),
  created_at: Timestamp,
})

export const listRecords = (db: Db, from: Date, to: Date) =>
  db.many(
    DayRow,
    sql`
    select ref, txn_id, 'charge' as kind, outcome = 'approved' and voided_at is null as is_active,
           case when captured_at is null then amount_cents else captured_cents end as amount_cents,
           created_at
      from sim_charges
     where tenant_ref = ${db.tenant} and created_at >= ${from} and created_at < ${to}
    union all
    select ref, txn_id, 'refund', outcome = 'approved', amount_cents, created_at
      from sim_journal
     where tenant_ref = ${db.tenant} and kind = 'refund'
       and created_at >= ${from} and created_at < ${to}`,
  )

const VaultRow = Type.Object({
  vault_id: Id,
  card: CardFacts,
  fingerprint: Type.String(),
  behaviour: Type.String(),
})

export const insertVault = (db: Db, row: Static<typeof VaultRow>) =>
  db.run(sql`
    insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
    values (${db.tenant}, ${row.vault_id}, ${JSON.stringify(row.card)}, ${row.fingerprint},
            ${row.behaviour})`)

export const deleteVault = (db: Db, vault_id: string) =>
  db.run(sql`
    delete from sim_vault where tenant_ref = ${db.tenant} and vault_id = ${vault_id}`)

export const findVault = (db: Db, vault_id: string) =>
  db.maybe(
    VaultRow,
    sql`
    select vault_id, card, fingerprint, behaviour
      from sim_vault
     where tenant_ref = ${db.tenant} and vault_id = ${vault_id}`,
  )

/** Lists the charges of the simulated gateway, newest first. */
export const listCharges = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: SimCharge,
      table: sql`sim_charges`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [],
      key: [
        { name: sql`created_at`, type: 'timestamp' },
        { name: sql`txn_id`, type: 'uuid' },
      ],
      descending: true,
      columns: sql`
        c.txn_id, c.ref, c.amount_cents, c.currency, c.outcome, c.code, c.auth_code, c.avs, c.cvv,
        c.card, c.captured_cents, c.refunded_cents, c.vault_id, c.captured_at, c.voided_at,
        c.dispute_at, c.created_at,
        (select coalesce(json_agg(json_build_object('ref', j.ref, 'kind', j.kind,
                                  'amount_cents', j.amount_cents, 'outcome', j.outcome)
                                  order by j.created_at, j.id), '[]')
           from sim_journal j
          where j.tenant_ref = ${db.tenant} and j.txn_id = c.txn_id) as journal`,
    },
    page,
  )
