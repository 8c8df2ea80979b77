import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import { refuse } from './errors.ts'
import { listSpellings, listValues, normalise } from './normalise.ts'
import * as queries from './queries.ts'
import type { Ban, BanKind, BanTerms, BanVerdict, Facts, NewBan, NewDecision } from './schema.ts'
import type { FraudSettings } from './settings-schema.ts'

/**
 * Checks the active bans of these facts, in one statement that writes and locks nothing. It brings the settings, too.
 */
export async function checkBans(db: Db, facts: Facts): Promise<BanVerdict> {
  const rows = await queries.findBans(db, [...listValues(facts), ...listSpellings(facts)])
  const found = rows.flatMap(({ id, action }) => (id === null ? [] : [{ id, action }]))
  const settings = (rows.find((row) => row.settings !== null)?.settings ??
    null) as FraudSettings | null
  // A value and a spelling may match the same ban.
  const ban_ids = [...new Set(found.map(({ id }) => id))]
  if (found.some(({ action }) => action === 'block'))
    return { decision: 'block', ban_ids, settings }
  return { decision: found.length > 0 ? 'review' : 'allow', ban_ids, settings }
}

/**
 * Records a decision in the transaction that acts on it. The hits of its bans are rows that a loop adds up
 * later, so that transactions do not wait for the row of a ban that matches often.
 */
export async function record(tx: Tx, decision: NewDecision): Promise<void> {
  await queries.insertDecision(tx, decision)
}

/** Bans a value. A second ban of a value is refused, so that lifting one ban frees the value. */
export function ban(db: TenantDb, actor: audit.Actor, request: NewBan): Promise<Ban> {
  const value = normalise(request.kind, request.value)
  if (value === null) throw invalidBody('value', VALUE_RULES[request.kind])
  const terms = readTerms(db, request)
  return db.transaction('fraud: ban', async (tx) => {
    const created = await insert(tx, actor, { kind: request.kind, value, ...terms })
    if (created !== null) return created
    const existing = await queries.findUnlifted(tx, request.kind, value)
    throw refuse('ban_exists', { body: { ban_id: existing?.id ?? null } })
  })
}

/**
 * Bans facts of a shopper, such as those of a fraudulent order. Kinds whose fact is missing are left out. A
 * value that is banned already keeps its ban, which is part of the result. Only a `review` ban is replaced by
 * a `block` ban: often it is the review that shows the fraud.
 */
export async function banFacts(
  tx: Tx,
  actor: audit.Actor,
  facts: Facts,
  { kinds, ...request }: BanTerms & { kinds: readonly BanKind[] },
): Promise<Ban[]> {
  const terms = readTerms(tx, request)
  const bans: Ban[] = []
  for (const { kind, value } of narrowestValues(facts, kinds)) {
    if (terms.action === 'block') await liftReview(tx, actor, kind, value)
    const created = await insert(tx, actor, { kind, value, ...terms })
    const existing = created ?? (await queries.findUnlifted(tx, kind, value))
    if (existing !== null) bans.push(existing)
  }
  return bans
}

async function liftReview(tx: Tx, actor: audit.Actor, kind: BanKind, value: string): Promise<void> {
  const existing = await queries.findUnlifted(tx, kind, value)
  if (!existing?.active || existing.action !== 'review') return
  const lifted = await queries.liftBan(tx, existing.id, actor.name)
  if (lifted !== null) await auditBan(tx, actor, 'lifted', lifted)
}

/** The narrowest value of each kind: the whole domain, the most digits of a card, and no network. */
function narrowestValues(facts: Facts, kinds: readonly BanKind[]) {
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
  const created = await queries.insertBan(tx, { ...ban, created_by: actor.name })
  if (created !== null) await auditBan(tx, actor, 'banned', created)
  return created
}

/** Audits a ban by its id. Audit entries are kept for ever, so they have no value and no free text. */
const auditBan = (tx: Tx, actor: audit.Actor, action: string, created: Ban) =>
  audit.record(tx, actor, {
    action: `fraud.${action}`,
    entity: `fraud_ban:${created.id}`,
    after: { kind: created.kind, action: created.action, expires_at: created.expires_at },
  })

function readTerms({ clock }: Db, { action = 'block', reason = null, expires_at }: BanTerms) {
  return { action, reason, expires_at: readExpiry(clock, expires_at) }
}

const VALUE_RULES: Record<BanKind, string> = {
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
  if (found === null) throw refuse('ban_not_found')
  return found
}

/** Lists bans, newest first. */
export async function list(db: Db, filters: queries.BanFilters, page: Page) {
  const { rows, shown } = await queries.listBans(db, filters, page)
  return { bans: rows, ...shown }
}

/** Ends a ban. Its row stays, and the call may be repeated. */
export async function lift(db: TenantDb, actor: audit.Actor, id: string): Promise<Ban> {
  const before = await get(db, id)
  return db.transaction('fraud: lift', async (tx) => {
    const lifted = await queries.liftBan(tx, before.id, actor.name)
    if (lifted === null) return get(tx, before.id)
    await auditBan(tx, actor, 'lifted', lifted)
    return lifted
  })
}

/** Lists the decisions about attempts, newest first. */
export async function listDecisions(db: Db, filters: queries.DecisionFilters, page: Page) {
  const { rows, shown } = await queries.listDecisions(db, filters, page)
  return { decisions: rows, ...shown }
}
