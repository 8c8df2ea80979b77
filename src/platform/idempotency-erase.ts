import { Type } from 'typebox'
import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

const Kept = Type.Object({
  operation: Type.String(),
  key: Type.String(),
  response_body: Type.String(),
})

/** Removes a person's data from the body of a stored answer. */
export type Rewrite = (body: string) => string

/**
 * Rewrites the stored answers about certain rows, such as the orders of an erased customer. From then on a replay
 * answers with the rewritten body. Returns how many were changed.
 */
export const rewriteAnswersOf = (tx: Tx, resource_ids: readonly string[], rewrite: Rewrite) =>
  rewriteWhere(tx, sql`resource_id = any(${resource_ids}::uuid[])`, rewrite)

/** Rewrites the stored answers without a row's id that contain one of the texts, in any case. */
export const rewriteAnswersWith = (tx: Tx, texts: readonly string[], rewrite: Rewrite) =>
  rewriteWhere(tx, sql`resource_id is null and ${containsOneOf(texts)}`, rewrite)

/**
 * Rewrites stored answers like `rewriteAnswersWith`, but only those of some operations, whatever row they are about.
 */
export const rewriteAnswersBy = (
  tx: Tx,
  operations: readonly string[],
  texts: readonly string[],
  rewrite: Rewrite,
) =>
  rewriteWhere(
    tx,
    sql`operation = any (${operations}::text[]) and ${containsOneOf(texts)}`,
    rewrite,
  )

const containsOneOf = (texts: readonly string[]): Sql =>
  sql`exists (select from unnest(${texts}::text[]) as wanted (text)
               where position(lower(wanted.text) in lower(response_body)) > 0)`

async function rewriteWhere(tx: Tx, which: Sql, rewrite: Rewrite): Promise<number> {
  const kept = await lockAnswers(tx, which)
  const changed = kept
    .map((each) => ({ ...each, body: rewrite(each.response_body) }))
    .filter(({ body, response_body }) => body !== response_body)
  return changed.length === 0 ? 0 : writeBodies(tx, changed)
}

const lockAnswers = (db: Db, which: Sql) =>
  db.many(
    Kept,
    sql`
    select operation, key, response_body
      from idempotency_keys
     where tenant_ref = ${db.tenant} and state = 'answered' and response_body is not null
       and ${which}
     order by operation, key
       for update`,
  )

const writeBodies = (
  tx: Tx,
  changed: readonly { operation: string; key: string; body: string }[],
) =>
  tx.run(sql`
    update idempotency_keys k set response_body = c.body
      from unnest(${changed.map(({ operation }) => operation)}::text[],
                  ${changed.map(({ key }) => key)}::text[],
                  ${changed.map(({ body }) => body)}::text[]) as c (operation, key, body)
     where k.tenant_ref = ${tx.tenant} and k.operation = c.operation and k.key = c.key`)
