import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { machineTime, type Runner, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { Credential, FoundCredential, type Stage } from './schema.ts'

const keyHint = sql`'fdk_' || public_id as key_hint`
const columns = sql`id, label, scopes, ${keyHint}, created_at, expires_at, revoked_at`

export const findByPublicId = (db: Runner, publicId: string) =>
  db.maybe(FoundCredential, sql`select * from fd_find_credential(${publicId})`)

interface NewRow {
  publicId: string
  secretHash: Buffer
  label: string
  scopes: readonly string[]
  expiresAt: string | null
  initialStage: Stage | null
}

export const insertCredential = (db: Db, row: NewRow) =>
  db.one(
    Credential,
    sql`
    insert into credentials (tenant_ref, public_id, secret_hash, label, scopes, expires_at,
                             initial_stage)
    values (${db.tenant}, ${row.publicId}, ${row.secretHash}, ${row.label}, ${row.scopes},
            ${row.expiresAt}, ${row.initialStage})
    returning ${columns}`,
  )

/** Lists the keys of a store, newest first, the revoked ones too. */
export const listCredentials = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: Credential,
      table: sql`credentials`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`c.id, label, scopes, ${keyHint}, c.created_at, expires_at, revoked_at`,
    },
    page,
  )

export const findCredential = (db: Db, id: string) =>
  db.maybe(
    Credential,
    sql`select ${columns} from credentials where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** The active initial key of a stage; there is at most one. */
export const findInitial = (db: Db, stage: Stage) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select id
      from credentials
     where tenant_ref = ${db.tenant} and initial_stage = ${stage} and revoked_at is null`,
  )

/** Locks a key against revocation until the transaction ends. Returns null if it is no longer active. */
export const lockActive = (db: Db, id: string) =>
  db.maybe(
    Type.Object({ id: Id, expires_at: Nullable(Timestamp) }),
    sql`
    select id, expires_at
      from credentials
     where tenant_ref = ${db.tenant} and id = ${id} and revoked_at is null
       and (expires_at is null or expires_at > ${machineTime})
       for share`,
  )

export const countActive = (db: Db) =>
  db.one(
    Type.Object({ active: Type.Integer() }),
    sql`
    select count(*) as active
      from credentials
     where tenant_ref = ${db.tenant} and revoked_at is null
       and (expires_at is null or expires_at > ${machineTime})`,
  )

/**
 * Revokes a key. Returns null if it was revoked before, so that only one of two concurrent revocations is recorded.
 */
export const revokeCredential = (db: Db, id: string) =>
  db.maybe(
    Credential,
    sql`
    update credentials set revoked_at = ${machineTime}
     where tenant_ref = ${db.tenant} and id = ${id} and revoked_at is null
    returning ${columns}`,
  )
