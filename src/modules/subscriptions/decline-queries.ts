import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import type { CardCharge, NewDecline, TryLimit } from './cycle-schema.ts'

export const insertDecline = (tx: Tx, d: NewDecline) =>
  tx.run(sql`
    insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id, card,
                                       amount_cents, currency, code, network_code,
                                       advice_code, class)
    values (${tx.tenant}, ${d.subscription_id}, ${d.cycle}, ${d.order_id}, ${d.card},
            ${d.amount_cents}, ${d.currency}, ${d.code}, ${d.network_code},
            ${d.advice_code}, ${d.class})`)

/**
 * Returns when a card may be charged again under a limit: as soon as the oldest of so many declines leaves the
 * period. Null where there were fewer.
 */
export const findFreeTime = (
  db: Db,
  { card, amount_cents, currency }: CardCharge,
  { tries, days, ofAmount }: TryLimit,
) =>
  db.one(
    Type.Object({ at: Nullable(Timestamp) }),
    sql`
    select (array(select declined_at + make_interval(days => ${days})
                    from subscription_declines
                   where tenant_ref = ${db.tenant} and card = ${card}
                     and declined_at > fd_now() - make_interval(days => ${days})
                     and (not ${ofAmount}::boolean
                          or (amount_cents = ${amount_cents} and currency = ${currency}))
                   order by declined_at desc
                   limit ${tries}))[${tries}::int] as at`,
  )
