import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Nullable } from '../../kernel/schema.ts'
import type { Settings } from './verb-schema.ts'

const Row = Type.Object({
  delays_days: Type.Array(Type.Integer()),
  on_exhausted: Type.Enum(['cancel', 'pause']),
  pre_renewal_notice_days: Nullable(Type.Integer()),
  on_out_of_stock: Type.Enum(['skip', 'retry', 'backorder']),
})

export const findSettings = (db: Db) =>
  db.maybe(
    Row,
    sql`
    select dunning_delays_days as delays_days, on_exhausted, pre_renewal_notice_days, on_out_of_stock
      from subscription_settings
     where tenant_ref = ${db.tenant}`,
  )

export const putSettings = (tx: Tx, s: Settings) =>
  tx.run(sql`
    insert into subscription_settings (tenant_ref, dunning_delays_days, on_exhausted,
                                       pre_renewal_notice_days, on_out_of_stock)
    values (${tx.tenant}, ${s.dunning.delays_days}::int[], ${s.dunning.on_exhausted},
            ${s.pre_renewal_notice_days}, ${s.on_out_of_stock})
        on conflict (tenant_ref)
        do update set dunning_delays_days = excluded.dunning_delays_days,
                      on_exhausted = excluded.on_exhausted,
                      pre_renewal_notice_days = excluded.pre_renewal_notice_days,
                      on_out_of_stock = excluded.on_out_of_stock, updated_at = fd_now()`)
