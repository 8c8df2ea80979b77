import { Type } from 'typebox'
import { machineTime, type Runner, sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { OwnedStore, OwnerRow } from './schema.ts'

const columns = sql`o.id, o.email, o.name, o.password_hash,
                    o.email_verified_at is not null as email_verified`

interface NewOwner {
  email: string
  name: string
  passwordHash: string | null
}

/** Inserts a verified owner. Returns null if the address belongs to another verified account. */
export const insertVerifiedOwner = (db: Runner, owner: NewOwner) =>
  db.maybe(
    OwnerRow,
    sql`
    insert into owners as o (email, name, password_hash, email_verified_at)
    values (${owner.email}, ${owner.name}, ${owner.passwordHash}, ${machineTime})
    on conflict (email) where email_verified_at is not null do nothing
    returning ${columns}`,
  )

/** Inserts an account that waits for the proof of its address, beside any others of that address. */
export const insertPendingOwner = (db: Runner, owner: NewOwner) =>
  db.one(
    OwnerRow,
    sql`
    insert into owners as o (email, name, password_hash)
    values (${owner.email}, ${owner.name}, ${owner.passwordHash})
    returning ${columns}`,
  )

export const findVerifiedOwner = (db: Runner, email: string) =>
  db.maybe(
    OwnerRow,
    sql`select ${columns} from owners o where o.email = ${email} and o.email_verified_at is not null`,
  )

export const findOwner = (db: Runner, id: string) =>
  db.maybe(OwnerRow, sql`select ${columns} from owners o where o.id = ${id}`)

/** Finds the account of a login. A verified account comes before one that still waits for its proof. */
export const findOwnerByPassword = (db: Runner, email: string, passwordHash: string) =>
  db.maybe(
    OwnerRow,
    sql`
    select ${columns}
      from owners o
     where o.email = ${email} and o.password_hash = ${passwordHash}
     order by o.email_verified_at is null, o.created_at desc
     limit 1`,
  )

const LoginFacts = Type.Object({
  password_hash: Nullable(Type.String()),
  is_known: Type.Boolean(),
})

/**
 * Reads what a login needs before its password is hashed: the hash of the verified account, and whether the caller
 * is known for it. For an address without a verified account, the known callers are those of the accounts that wait
 * for its proof. Always returns a row, so that an unknown address takes as long.
 */
export const readLoginFacts = (db: Runner, email: string, callerHash: Buffer) =>
  db.one(
    LoginFacts,
    sql`
    with verified as (
      select o.id, o.password_hash
        from owners o
       where o.email = ${email} and o.email_verified_at is not null
    )
    select (select password_hash from verified) as password_hash,
           exists (select
                     from owner_callers c join owners o on o.id = c.owner_id
                    where o.email = ${email} and c.caller_hash = ${callerHash}
                      and (o.email_verified_at is not null
                           or not exists (select from verified))) as is_known`,
  )

/** Records a caller of an account and the time of its last login. */
export const insertCaller = (db: Runner, ownerId: string, callerHash: Buffer) =>
  db.run(sql`
    insert into owner_callers (owner_id, caller_hash, last_at)
    values (${ownerId}, ${callerHash}, ${machineTime})
    on conflict (owner_id, caller_hash) do update set last_at = excluded.last_at`)

/**
 * Marks the address as verified, if the account still has the password that it had when the mail was sent, and no
 * other account has proven the address. Repeated, it changes nothing.
 */
export const markVerified = (db: Runner, id: string, email: string, passwordMark: string) =>
  db.run(sql`
    update owners o set email_verified_at = coalesce(o.email_verified_at, ${machineTime})
     where o.id = ${id} and o.email = ${email}
       and encode(sha256(convert_to(o.password_hash, 'UTF8')), 'hex') = ${passwordMark}
       and not exists (select
                         from owners v
                        where v.email = o.email and v.id <> o.id
                          and v.email_verified_at is not null)`)

/** Locks the accounts of an address, so that two proofs of it run one after the other. */
export const lockAddress = (db: Runner, email: string) =>
  db.run(sql`select from owners where email = ${email} order by id for update`)

/** Deletes the accounts that still wait for the proof of an address, with their sessions. */
export const deletePendingOf = (db: Runner, email: string) =>
  db.run(sql`delete from owners where email = ${email} and email_verified_at is null`)

export const deletePendingSince = (db: Runner, seconds: number, limit: number) =>
  db.run(sql`
    delete from owners
     where id in (select id
                    from owners
                   where email_verified_at is null
                     and created_at < ${machineTime} - make_interval(secs => ${seconds})
                   limit ${limit})`)

export const deleteCallersSince = (db: Runner, seconds: number, limit: number) =>
  db.run(sql`
    delete from owner_callers
     where (owner_id, caller_hash) in
           (select owner_id, caller_hash
              from owner_callers
             where last_at < ${machineTime} - make_interval(secs => ${seconds})
             limit ${limit})`)

const Session = Type.Object({ expires_at: Timestamp })

/** Inserts a session. Returns null if the password was changed or removed after it was checked. */
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

/** Ends the sessions of an account, except one. */
export const deleteSessionsOf = (db: Runner, ownerId: string, kept: Buffer | null) =>
  db.run(sql`
    delete from owner_sessions
     where owner_id = ${ownerId} and token_hash is distinct from ${kept}::bytea`)

/** Replaces a password, if the stored one is still the one that was checked. */
export const updatePassword = (db: Runner, id: string, from: string | null, to: string) =>
  db.run(sql`
    update owners set password_hash = ${to}
     where id = ${id} and password_hash is not distinct from ${from}::text`)

export const deleteExpiredSessions = (db: Runner, limit: number) =>
  db.run(sql`
    delete from owner_sessions
     where token_hash in (select token_hash from owner_sessions
                           where expires_at < ${machineTime} limit ${limit})`)

/** Lists the stores of a verified address. No link is stored: each request looks them up (decision 0003). */
export const listOwnedStores = (db: Runner, email: string) =>
  db.many(OwnedStore, sql`select * from fd_owned_stores(${email})`)
