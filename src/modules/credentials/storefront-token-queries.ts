import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Runner, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { StorefrontToken } from './storefront-token-schema.ts'

/** Finds the store of a token, before any store is set. Returns null for a token that no store has. */
export const findTenant = (db: Runner, hash: Buffer) =>
  db.maybe(
    Type.Object({ tenant_ref: Type.String() }),
    sql`select tenant_ref from fd_find_storefront_token(${hash})`,
  )

export const insertToken = (tx: Tx, row: { label: string; hash: Buffer; hint: string }) =>
  tx.one(
    StorefrontToken,
    sql`
    insert into storefront_tokens (tenant_ref, label, token_hash, hint)
    values (${tx.tenant}, ${row.label}, ${row.hash}, ${row.hint})
    returning id, label, hint, created_at`,
  )

export const countTokens = async (tx: Tx): Promise<number> => {
  const { used } = await tx.one(
    Type.Object({ used: Type.Integer() }),
    sql`select count(*) as used from storefront_tokens where tenant_ref = ${tx.tenant}`,
  )
  return used
}

/** Lists the tokens of a store, newest first. */
export const listTokens = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: StorefrontToken,
      table: sql`storefront_tokens`,
      as: sql`t`,
      scope: sql`t.tenant_ref = ${db.tenant}`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`t.id, label, hint, t.created_at`,
    },
    page,
  )

export const deleteToken = (tx: Tx, id: string) =>
  tx.maybe(
    StorefrontToken,
    sql`
    delete from storefront_tokens
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning id, label, hint, created_at`,
  )
