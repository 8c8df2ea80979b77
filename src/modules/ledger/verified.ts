import { timingSafeEqual } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { hmacBytes } from '../../kernel/hmac.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import { GENESIS } from './chain.ts'
import * as queries from './queries.ts'
import type { Fault, Verified } from './schema.ts'
import * as verifiedQueries from './verified-queries.ts'
import { type Position, verifyLinks } from './verify.ts'

/** New links that one step verifies, so that a store with many lets the others have their turn. */
const NEW_MAX = 2_000

/** Old links, or journals by id, that one step verifies again: some ten milliseconds. */
const WALK_LINKS = 500
const WALK_JOURNALS = 1_000

/** When a ledger with a fault is looked at again: it may have been repaired. */
const RECHECK_MS = HOUR_MS

/** How far a walk may lag behind its plan. A worker that was down does not catch up with more. */
const LAG_MAX_MS = HOUR_MS

/** The record of a store before its first step. */
const UNVERIFIED: Verified = {
  sequence: 0,
  hash: null,
  balances: [],
  verified_at: null,
  walk_sequence: 0,
  walk_hash: null,
  walk_balances: [],
  walk_journal: null,
  walk_due_at: null,
  walked_at: null,
  fault: null,
  fault_at: null,
  fault_since: null,
  mac: null,
}

export interface VerifyOptions {
  /** Signs the record of the verification. */
  key: Buffer
  /** Machine time in milliseconds. */
  now: number
  /** Within this time the whole history is verified again. */
  periodMs: number
  /** The number up to which this process has seen the store verified. */
  floor: number
}

export interface Step {
  verified: Verified
  dueAt: string
  /** Links and journals that were computed again. */
  did: number
}

/**
 * One step of the verification of a store: the new links, and a slice of the old ones if it is due.
 * After a fault neither moves on past it, and both are looked at again every hour. Why from a position, and why signed:
 * decision 0020.
 */
export async function advance(db: Db, stored: Verified, options: VerifyOptions): Promise<Step> {
  const { now } = options
  const before = stored.mac === null ? UNVERIFIED : stored
  const untrue = await findUntrue(db, stored, options)
  if (untrue !== null) {
    const kept = untrue.kind === 'forged' ? stored : before
    return endStep(db, { ...kept, ...withFault(kept, untrue, now) }, options)
  }
  const head = await queries.findHead(db)
  const last = Math.min(head?.sequence ?? 0, before.sequence + NEW_MAX)
  const fresh = await verifyLinks(db, positionOf(before), last)
  const next = { ...before, ...savePosition(fresh.position), verified_at: iso(now) }
  const isWalkDue = before.fault !== null || Date.parse(next.walk_due_at ?? '') <= now
  const walked = fresh.fault === null && isWalkDue ? await walk(db, next, options) : null
  const after = {
    ...next,
    ...walked?.change,
    ...withFault(before, fresh.fault ?? walked?.fault ?? null, now),
  }
  const did = after.sequence - before.sequence + (walked?.did ?? 0)
  const walk_due_at = after.walk_due_at ?? iso(now + gapMs(after, options))
  return { ...endStep(db, { ...after, walk_due_at }, options), did }
}

/** Signs the result. A forged record is not signed: it keeps its wrong signature. */
function endStep(db: Db, verified: Verified, { key, now }: VerifyOptions): Step {
  const mac = verified.fault === 'forged' ? verified.mac : sign(key, db.tenant, verified)
  const dueAt = verified.fault === null ? (verified.walk_due_at ?? iso(now)) : iso(now + RECHECK_MS)
  return { verified: { ...verified, mac }, dueAt, did: 0 }
}

/**
 * Finds out whether the record of a store is untrue: it is not signed by us, it is older than this process has
 * seen, or the chain below it was written again. A record that went back stays a fault until an operator accepts
 * the ledger, because a new process could not see it again.
 */
export async function findUntrue(
  db: Db,
  stored: Verified,
  { key, floor }: Pick<VerifyOptions, 'key' | 'floor'>,
): Promise<Fault | null> {
  const { sequence, hash, fault, fault_at } = stored
  if (!isGenuine(key, db.tenant, stored)) return { kind: 'forged', at: String(sequence) }
  if (fault === 'rolled_back') return { kind: fault, at: fault_at ?? '' }
  if (sequence < floor) return { kind: 'rolled_back', at: String(floor) }
  if (sequence === 0) return null
  const link = await queries.findLink(db, sequence)
  return link?.hash === hash ? null : { kind: 'rewritten', at: String(sequence) }
}

/** Verifies a slice of the history again: links first, then the journals by their id. */
async function walk(db: Db, verified: Verified, options: VerifyOptions) {
  const { sequence, walk_sequence, walk_hash, walk_balances, walk_journal } = verified
  const { now, periodMs } = options
  const planned = Math.max(Date.parse(verified.walk_due_at ?? '') || now, now - LAG_MAX_MS)
  const walk_due_at = iso(Math.min(planned, now) + gapMs(verified, { periodMs }))
  if (walk_sequence < sequence) {
    const start = { sequence: walk_sequence, hash: walk_hash ?? GENESIS, balances: walk_balances }
    const last = Math.min(sequence, walk_sequence + WALK_LINKS)
    const { position, fault } = await verifyLinks(db, start, last)
    const { sequence: end, hash, balances } = savePosition(position)
    const change = { walk_sequence: end, walk_hash: hash, walk_balances: balances, walk_due_at }
    return { change, fault, did: end - walk_sequence }
  }
  const { count, last, stray } = await verifiedQueries.readJournals(db, walk_journal, WALK_JOURNALS)
  if (stray !== null) {
    return { change: {}, fault: { kind: 'stray_journal', at: stray } as const, did: count }
  }
  const change =
    count === WALK_JOURNALS
      ? { walk_journal: last, walk_due_at }
      : { ...WALK_BEGIN, walked_at: iso(now), walk_due_at }
  return { change, fault: null, did: count }
}

const WALK_BEGIN = { walk_sequence: 0, walk_hash: null, walk_balances: [], walk_journal: null }

/** The time between two slices, so that all of them fit into the period. */
const gapMs = ({ sequence }: Verified, { periodMs }: Pick<VerifyOptions, 'periodMs'>) =>
  periodMs / (Math.ceil(sequence / WALK_LINKS) + Math.floor(sequence / WALK_JOURNALS) + 1)

/** Returns a signed row that says that a ledger is verified up to a position, because an operator has accepted it. */
export function acceptPosition(key: Buffer, tenant: string, position: Position, now: number) {
  const accepted = { ...UNVERIFIED, ...savePosition(position), verified_at: iso(now) }
  return { ...accepted, mac: sign(key, tenant, accepted) }
}

/** Whether the row was signed by this installation for this store. A row that verifies nothing needs no signature. */
export function isGenuine(key: Buffer, tenant: string, stored: Verified): boolean {
  if (stored.mac === null) return stored.sequence === 0
  const mac = Buffer.from(stored.mac, 'hex')
  return timingSafeEqual(mac, Buffer.from(sign(key, tenant, stored), 'hex'))
}

/** Signs every column that has a meaning. Times are signed as numbers, which have one spelling. */
function sign(key: Buffer, tenant: string, { mac: _, ...rest }: Verified): string {
  const at = (time: string | null) => (time === null ? null : Date.parse(time))
  const text = canonicalJson({
    ...rest,
    tenant,
    verified_at: at(rest.verified_at),
    walk_due_at: at(rest.walk_due_at),
    walked_at: at(rest.walked_at),
    fault_since: at(rest.fault_since),
  })
  return hmacBytes(key, [text]).toString('hex')
}

/** The place up to which a ledger is verified. */
export const positionOf = ({ sequence, hash, balances }: Verified): Position => ({
  sequence,
  hash: hash ?? GENESIS,
  balances,
})

const savePosition = ({ sequence, hash, balances }: Position) => ({
  sequence,
  hash: sequence === 0 ? null : hash,
  balances: [...(balances ?? [])],
})

function withFault({ fault, fault_at, fault_since }: Verified, found: Fault | null, now: number) {
  if (found === null) return { fault: null, fault_at: null, fault_since: null }
  const isKnown = fault === found.kind && fault_at === found.at
  return {
    fault: found.kind,
    fault_at: found.at,
    fault_since: isKnown ? fault_since : iso(now),
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()
