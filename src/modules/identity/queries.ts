import { Type } from 'typebox'
import { machineTime, type Runner, sql } from '../../db/sql.ts'
import { Timestamp } from '../../kernel/schema.ts'
import { OwnedStore, OwnerRow } from './schema.ts'

const columns = sql`o.id, o.email, o.name, o.password_hash,
                    o.email_verified_at is not null as email_verified`

interface NewOwner {
  email: string
  name: string
  passwordHash: string | null
  verified: boolean
}

/**
 * Inserts an owner. Null: the address belongs to a verified account. An unverified account is replaced:
 * otherwise a stranger could keep an owner out by signing up first.
 */
export const insertOwner = (db: Runner, owner: NewOwner) =>
  db.maybe(
    OwnerRow,
    sql`
    insert into owners as o (email, name, password_hash, email_verified_at)
    values (${owner.email}, ${owner.name}, ${owner.passwordHash},
            case when ${owner.verified} then ${machineTime} end)
    on conflict (email) do update
       set name = excluded.name, password_hash = excluded.password_hash,
           email_verified_at = excluded.email_verified_at
     where o.email_verified_at is null
    returning ${columns}`,
  )

/**
 * Finds or creates the owner that an external provider has identified by their address. A password that
 * was set before the address was verified may be a stranger's, and is removed.
 */
export const upsertExternalOwner = (db: Runner, email: string, name: string) =>
  db.one(
    OwnerRow,
    sql`
    insert into owners as o (email, name, email_verified_at)
    values (${email}, ${name}, ${machineTime})
    on conflict (email) do update
       set password_hash = case when o.email_verified_at is not null then o.password_hash end,
           email_verified_at = coalesce(o.email_verified_at, ${machineTime})
    returning ${columns}`,
  )

export const findOwnerByEmail = (db: Runner, email: string) =>
  db.maybe(OwnerRow, sql`select ${columns} from owners o where o.email = ${email}`)

/**
 * Marks the address as verified, if the account still has the password of the time of the mail. A later
 * sign-up of a stranger with the same address has another password.
 */
export const markVerified = (db: Runner, id: string, email: string, passwordMark: string) =>
  db.run(sql`
    update owners set email_verified_at = coalesce(email_verified_at, ${machineTime})
     where id = ${id} and email = ${email}
       and encode(sha256(convert_to(password_hash, 'UTF8')), 'hex') = ${passwordMark}`)

const Session = Type.Object({ expires_at: Timestamp })

/** Null: the password was changed or removed after it was checked. */
export const insertSession = (db: Runner, tokenHash: Buffer, owner: OwnerRow, seconds: number) =>
  db.maybe(
    Session,
    sql`
    insert into owner_sessions (token_hash, owner_id, expires_at)
    select ${tokenHash}, o.id, ${machineTime} + make_interval(secs => ${seconds})
      from owners o
     where o.id = ${owner.id} and o.password_hash = ${owner.password_hash}
       for share
    returning expires_at`,
  )

const FoundSession = Type.Object({ ...OwnerRow.properties, seconds_left: Type.Number() })

export const findSession = (db: Runner, tokenHash: Buffer) =>
  db.maybe(
    FoundSession,
    sql`
    select ${columns}, extract(epoch from s.expires_at - ${machineTime})::float8 as seconds_left
      from owner_sessions s join owners o on o.id = s.owner_id
     where s.token_hash = ${tokenHash} and s.expires_at > ${machineTime}`,
  )

export const extendSession = (
  db: Runner,
  tokenHash: Buffer,
  { slidingSeconds, absoluteSeconds }: { slidingSeconds: number; absoluteSeconds: number },
) =>
  db.run(sql`
    update owner_sessions
       set expires_at = least(${machineTime} + make_interval(secs => ${slidingSeconds}),
                              created_at + make_interval(secs => ${absoluteSeconds}))
     where token_hash = ${tokenHash}`)

export const lockSession = (db: Runner, tokenHash: Buffer) =>
  db.maybe(
    Session,
    sql`
    select expires_at
      from owner_sessions
     where token_hash = ${tokenHash} and expires_at > ${machineTime}
       for share`,
  )

export const deleteSession = (db: Runner, tokenHash: Buffer) =>
  db.run(sql`delete from owner_sessions where token_hash = ${tokenHash}`)

export const deleteSessionsOf = (db: Runner, ownerId: string) =>
  db.run(sql`delete from owner_sessions where owner_id = ${ownerId}`)

export const deleteExpiredSessions = (db: Runner, limit: number) =>
  db.run(sql`
    delete from owner_sessions
     where token_hash in (select token_hash from owner_sessions
                           where expires_at < ${machineTime} limit ${limit})`)

export const listOwnedStores = (db: Runner, email: string) =>
  db.many(OwnedStore, sql`select * from fd_owned_stores(${email})`)
