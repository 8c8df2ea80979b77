import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import { listForms, listValues, normalise } from './normalise.ts'
import * as queries from './queries.ts'
import type { Ban, BanKind, BanTerms, BanVerdict, Facts, NewBan, NewDecision } from './schema.ts'

export { DEFAULT_RULES, type Observed, type Rules, type Score, score } from './score.ts'
export { measureVelocity, noteFailure, passVelocity, velocityBuckets } from './velocity.ts'

/** Whether any ban stands against these facts: one statement, and nothing is written or locked. */
export async function checkBans(db: Db, facts: Facts): Promise<BanVerdict> {
  const found = await queries.findBans(db, [...listValues(facts), ...listForms(facts)])
  // What a fact is called and what a merchant typed may be one and the same.
  const ban_ids = [...new Set(found.map(({ id }) => id))]
  if (found.some(({ action }) => action === 'block')) return { decision: 'block', ban_ids }
  return { decision: found.length > 0 ? 'review' : 'allow', ban_ids }
}

/**
 * Writes down what was decided, in the transaction that acts on it. The bans behind it get their
 * hits as rows that a job adds up later, so that a ban that many run into is no place to queue.
 */
export async function record(tx: Tx, decision: NewDecision): Promise<void> {
  await queries.insertDecision(tx, decision)
}

/** Bans a value. One that is banned already is a conflict, so that lifting one ban lifts it all. */
export function ban(db: TenantDb, actor: audit.Actor, wanted: NewBan): Promise<Ban> {
  const value = normalise(wanted.kind, wanted.value)
  if (value === null) throw invalidBody('value', WORDS[wanted.kind])
  const terms = readTerms(db, wanted)
  return db.transaction('fraud: ban', async (tx) => {
    const made = await insert(tx, actor, { kind: wanted.kind, value, ...terms })
    if (made !== null) return made
    const standing = await queries.findStanding(tx, wanted.kind, value)
    throw new ApiError('ban_exists', { body: { ban_id: standing?.id ?? null } })
  })
}

/**
 * Bans facts of somebody, such as of an order that turned out bad. Kinds whose fact is missing are
 * left out. What is banned already stays as it is, and is answered for as it stands, unless it was only
 * to be looked at and is to be blocked now: often it is that look which has shown who somebody is.
 */
export async function banFacts(
  tx: Tx,
  actor: audit.Actor,
  facts: Facts,
  { kinds, ...wanted }: BanTerms & { kinds: readonly BanKind[] },
): Promise<Ban[]> {
  const terms = readTerms(tx, wanted)
  const bans: Ban[] = []
  for (const { kind, value } of narrowest(facts, kinds)) {
    if (terms.action === 'block') await liftReview(tx, actor, kind, value)
    const made = await insert(tx, actor, { kind, value, ...terms })
    const standing = made ?? (await queries.findStanding(tx, kind, value))
    if (standing !== null) bans.push(standing)
  }
  return bans
}

async function liftReview(tx: Tx, actor: audit.Actor, kind: BanKind, value: string): Promise<void> {
  const standing = await queries.findStanding(tx, kind, value)
  if (!standing?.active || standing.action !== 'review') return
  const lifted = await queries.liftBan(tx, standing.id, actor.name)
  if (lifted !== null) await announce(tx, actor, 'lifted', lifted)
}

/** Of each kind the value that says most: the whole domain, the longest first digits, no network. */
function narrowest(facts: Facts, kinds: readonly BanKind[]) {
  const chosen = new Map<BanKind, string>()
  for (const { kind, value } of listValues(facts)) {
    if (!kinds.includes(kind) || kind === 'cidr') continue
    if ((chosen.get(kind) ?? '').length < value.length) chosen.set(kind, value)
  }
  return [...chosen].map(([kind, value]) => ({ kind, value }))
}

async function insert(
  tx: Tx,
  actor: audit.Actor,
  ban: Omit<Parameters<typeof queries.insertBan>[1], 'created_by'>,
): Promise<Ban | null> {
  await queries.liftExpired(tx, ban.kind, ban.value)
  const made = await queries.insertBan(tx, { ...ban, created_by: actor.name })
  if (made !== null) await announce(tx, actor, 'banned', made)
  return made
}

/** The trail is for ever, so it names no value and no words of a person: only which ban. */
const announce = (tx: Tx, actor: audit.Actor, action: string, made: Ban) =>
  audit.record(tx, actor, {
    action: `fraud.${action}`,
    entity: `fraud_ban:${made.id}`,
    after: { kind: made.kind, action: made.action, expires_at: made.expires_at },
  })

function readTerms({ clock }: Db, { action = 'block', reason = null, expires_at }: BanTerms) {
  return { action, reason, expires_at: readExpiry(clock, expires_at) }
}

const WORDS: Record<BanKind, string> = {
  email: 'must be an e-mail address',
  email_domain: 'must be a domain, such as mail.example',
  ip: 'must be an IP address',
  cidr: 'must be a network such as 192.0.2.0/24: /8 or narrower in IPv4, /16 or narrower in IPv6',
  customer_ref: 'must be 1 to 200 characters without control characters',
  card_fingerprint: 'must be a card fingerprint',
  card_bin: 'must be the first six to eight digits of a card number',
  address: 'must contain letters or digits',
}

export async function get(db: Db, id: string): Promise<Ban> {
  const found = isUuid(id) ? await queries.findBan(db, id) : null
  if (found === null) throw new ApiError('ban_not_found')
  return found
}

/** Newest first. */
export async function list(db: Db, filters: queries.BanFilters, page: Page) {
  const [bans, { total }] = await Promise.all([
    queries.listBans(db, filters, page),
    queries.countBans(db, filters),
  ])
  return { bans, total, ...page }
}

/** Ends a ban. It stays on record, and repeating it is harmless. */
export async function lift(db: TenantDb, actor: audit.Actor, id: string): Promise<Ban> {
  const before = await get(db, id)
  return db.transaction('fraud: lift', async (tx) => {
    const lifted = await queries.liftBan(tx, before.id, actor.name)
    if (lifted === null) return get(tx, before.id)
    await announce(tx, actor, 'lifted', lifted)
    return lifted
  })
}

/** What was decided about each attempt, newest first. */
export async function listDecisions(db: Db, filters: queries.DecisionFilters, page: Page) {
  const [decisions, { total }] = await Promise.all([
    queries.listDecisions(db, filters, page),
    queries.countDecisions(db, filters),
  ])
  return { decisions, total, ...page }
}
