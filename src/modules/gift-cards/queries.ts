import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { defineBalance } from '../../platform/held-balance.ts'
import { areOldest, listStoresWithOld } from '../../platform/store-lists.ts'
import { createTurns } from '../../platform/store-turns.ts'
import {
  type CardFilters,
  type CardRow,
  EncryptedCode,
  GiftCard,
  type GiftCardPatch,
  type GiftCardStatus,
  GiftCardTransaction,
} from './schema.ts'

/**
 * The status that is shown. A card is expired from its date on, even before the loop has booked it, and disabled
 * while a refund takes it back.
 */
const status = sql`case when disabled_at is null and expires_at <= fd_now() then 'expired'
                        when pending_refund_id is not null then 'disabled'
                        else status end`

export const columns = sql`gift_cards.id, code_last4, initial_balance_cents, balance_cents, held_cents, currency,
                    ${status} as status, expires_at, issued_order_id, order_item_id, send_at, sent_at,
                    pending_refund_id is not null as refund_pending, recipient_email, customer_ref,
                    note, gift_cards.created_at, updated_at`

interface CommonTerms {
  initial_balance_cents: number
  currency: string
  expires_at: string | null
  note: string | null
  recipient_email: string | null
  customer_ref: string | null
}

/** Inserts cards with the same terms. */
export const insertCards = (tx: Tx, cards: readonly CardRow[], terms: CommonTerms) =>
  tx.many(
    GiftCard,
    sql`
    insert into gift_cards (tenant_ref, id, code_hmac, code_last4, code_sealed,
                            initial_balance_cents, balance_cents, currency, expires_at, note,
                            recipient_email, customer_ref)
    select ${tx.tenant}, c.id, c.code_hmac, c.code_last4, c.code_sealed,
           ${terms.initial_balance_cents}, ${terms.initial_balance_cents}, ${terms.currency},
           ${terms.expires_at}, ${terms.note}, ${terms.recipient_email}, ${terms.customer_ref}
      from unnest(${cards.map(({ id }) => id)}::uuid[],
                  ${cards.map(({ code_hmac }) => code_hmac)}::bytea[],
                  ${cards.map(({ code_last4 }) => code_last4)}::text[],
                  ${cards.map(({ code_sealed }) => code_sealed)}::bytea[])
           as c (id, code_hmac, code_last4, code_sealed)
    returning ${columns}`,
  )

export const findCard = (db: Db, id: string) =>
  db.maybe(
    GiftCard,
    sql`select ${columns} from gift_cards where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const findByCode = (db: Db, hash: Buffer) =>
  db.maybe(
    GiftCard,
    sql`select ${columns} from gift_cards where tenant_ref = ${db.tenant} and code_hmac = ${hash}`,
  )

/** The statements that change balances and holds, each under the lock of the card's row. */
const { lock, update, addHeld, releaseHeld, captureHeld, addBalance } = defineBalance({
  table: sql`gift_cards`,
  columns,
  shape: GiftCard,
})

export { addBalance, addHeld, captureHeld, releaseHeld }

export const lockCard = (tx: Tx, id: string) => lock(tx, sql`id = ${id}`)

export const lockByCode = (tx: Tx, hash: Buffer) => lock(tx, sql`code_hmac = ${hash}`)

const hasNotExpired = sql`(expires_at is null or expires_at > fd_now())`

/**
 * The status that is shown, in conditions that the indexes have. Few cards have expired and are not
 * booked yet: the loop books them within seconds.
 */
const HAVING_STATUS: Record<GiftCardStatus, readonly Sql[]> = {
  active: [sql`status = 'active' and ${hasNotExpired}`],
  depleted: [sql`status = 'depleted' and ${hasNotExpired}`],
  disabled: [sql`status = 'disabled'`],
  expired: [
    sql`status = 'expired'`,
    sql`expires_at <= fd_now() and disabled_at is null and expired_at is null`,
  ],
}

/** Lists the cards of a store, newest first. */
export const listCards = (db: Db, { status: shownStatus, last4 }: CardFilters, page: Page) =>
  readList(
    db,
    {
      shape: GiftCard,
      table: sql`gift_cards`,
      as: sql`gift_cards`,
      scope: sql`gift_cards.tenant_ref = ${db.tenant}`,
      filters: last4 === undefined ? [] : [sql`gift_cards.code_last4 = ${last4}`],
      ...(shownStatus !== undefined && { parts: HAVING_STATUS[shownStatus] }),
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Expires a card: reduces its balance to the amount that orders hold. */
export const expireCard = (tx: Tx, id: string) =>
  update(
    tx,
    id,
    sql`balance_cents = held_cents, expired_at = coalesce(expired_at, fd_now())`,
    sql`expires_at <= fd_now() and disabled_at is null`,
  )

export const disableCard = (tx: Tx, id: string) => update(tx, id, sql`disabled_at = fd_now()`)
export const enableCard = (tx: Tx, id: string) => update(tx, id, sql`disabled_at = null`)

export const patchCard = (
  tx: Tx,
  id: string,
  { expires_at, note, recipient_email }: GiftCardPatch,
) =>
  update(
    tx,
    id,
    join(
      [
        ...(expires_at === undefined ? [] : [sql`expires_at = ${expires_at}`]),
        ...(note === undefined ? [] : [sql`note = ${note}`]),
        ...(recipient_email === undefined ? [] : [sql`recipient_email = ${recipient_email}`]),
      ],
      ', ',
    ),
  )

type NewTransaction = Pick<GiftCardTransaction, 'type' | 'event' | 'amount_cents' | 'actor'> & {
  order_id?: string | null
  reason?: string | null
}

/** Inserts one transaction for each card, with the balance that the card has now. */
export const logTransaction = (tx: Tx, ids: readonly string[], line: NewTransaction) =>
  tx.run(sql`
    insert into gift_card_transactions (tenant_ref, gift_card_id, type, event, amount_cents,
                                        balance_after_cents, order_id, reason, actor)
    select tenant_ref, id, ${line.type}, ${line.event}, ${line.amount_cents}, balance_cents,
           ${line.order_id ?? null}, ${line.reason ?? null}, ${line.actor}
      from gift_cards
     where tenant_ref = ${tx.tenant} and id = any(${ids}::uuid[])`)

/** Lists the transactions of a card, newest first. */
export const listTransactions = (db: Db, id: string, page: Page) =>
  readList(
    db,
    {
      shape: GiftCardTransaction,
      table: sql`gift_card_transactions`,
      as: sql`t`,
      scope: sql`t.tenant_ref = ${db.tenant}`,
      filters: [sql`t.gift_card_id = ${id}`],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`t.id, t.type, t.event, t.amount_cents, t.balance_after_cents, t.order_id,
                   t.reason, t.actor, t.created_at`,
    },
    page,
  )

/** Records that the code was mailed. A mail that is sent again does not change it. */
export const markSent = (db: Db, id: string) =>
  db.run(sql`
    update gift_cards set sent_at = fd_now()
     where tenant_ref = ${db.tenant} and id = ${id} and sent_at is null`)

/** For how many hours a replay shows the code. */
const SHOWN_HOURS = 24
const shown = sql`code_sealed is not null
                  and created_at > fd_now() - make_interval(hours => ${SHOWN_HOURS})`

export const listEncryptedCodes = (db: Db, ids: readonly string[]) =>
  db.many(
    EncryptedCode,
    sql`
    select id, code_hmac, code_sealed
      from gift_cards
     where tenant_ref = ${db.tenant} and id = any(${ids}::uuid[]) and ${shown}`,
  )

export const findEncryptedCode = (db: Db, id: string) =>
  db.maybe(
    EncryptedCode,
    sql`
    select id, code_hmac, code_sealed
      from gift_cards
     where tenant_ref = ${db.tenant} and id = ${id} and code_sealed is not null`,
  )

const CODES = {
  table: sql`gift_cards`,
  only: sql`code_sealed is not null`,
  since: sql`code_until`,
  before: sql`fd_now()`,
}

export const listStoresWithOldCodes = (worker: DueLists) => listStoresWithOld(worker, CODES)

/** Erases at most `limit` codes. Locked cards are left for later, so that no payment waits. */
export const eraseOldCodes = (db: Db, limit: number) =>
  db.run(sql`update gift_cards set code_sealed = null where ${areOldest(db, CODES, limit)}`)

/** A card that a refund takes back does not expire before the refund has ended: the refund needs its balance. */
const canExpire = sql`disabled_at is null and pending_refund_id is null
                      and (expired_at is null or balance_cents > held_cents)`
const due = sql`expires_at <= fd_now() and ${canExpire}`

/** The stores with expired cards, which take turns. */
export const expiryTurns = createTurns({
  table: sql`gift_cards`,
  due: sql`expires_at`,
  only: canExpire,
})

export const listDue = (db: Db, limit: number) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from gift_cards
     where tenant_ref = ${db.tenant} and ${due}
     order by expires_at
     limit ${limit}`,
  )

/** A query of the time at which the next card expires. */
export const nextExpiry = (db: Db) => sql`
  select min(expires_at) from gift_cards where tenant_ref = ${db.tenant} and ${canExpire}`

/**
 * Locks a card that is due. Returns null if it is no longer due, or if another transaction has
 * locked it; such a card stays due.
 */
export const lockDue = (tx: Tx, id: string) =>
  tx.maybe(
    GiftCard,
    sql`
    select ${columns}
      from gift_cards
     where tenant_ref = ${tx.tenant} and id = ${id} and ${due}
       for update skip locked`,
  )
