import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
import { canonicalHostname, HOSTNAME_LENGTH_MAX, isWithin } from '../../kernel/hostname.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { randomBase62 } from '../../kernel/tokens.ts'
import type { Actor } from '../../platform/audit.ts'
import type { Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import * as stores from '../stores/service.ts'
import { announce, applyFinding, findOtherHolder } from './check.ts'
import type { FindTxt } from './lookup.ts'
import { isPublicSuffix } from './public-suffixes.ts'
import * as queries from './queries.ts'
import type { DomainRow, DomainStatus } from './schema.ts'

/** More than any store has names, and few enough to ask DNS about. */
const DOMAINS_MAX = 100

/** Each is a question to somebody's name server. */
const VERIFICATIONS_PER_MINUTE = 10

/** The label of our record stands before the name, and both together must fit into DNS. */
const CLAIM_LENGTH_MAX = HOSTNAME_LENGTH_MAX - '_fd-verify.'.length

/** Zones that no public DNS answers for. */
const PRIVATE_ZONES = ['localhost', 'local', 'internal', 'invalid', 'onion', 'arpa']

/**
 * Claims a hostname. Nothing is given yet, so that nobody is kept from a name by a mere claim: it
 * becomes the store's own by the record that only its keeper can set.
 */
export function claim(db: TenantDb, actor: Actor, wanted: string, platformHost: string) {
  const hostname = checkHostname(wanted, platformHost)
  return db.transaction('domains: claim', async (tx) => {
    await queries.lockDomains(tx)
    const before = await queries.findClaim(tx, hostname)
    if (before !== null) return { domain: before, created: false }
    const holder = await queries.findHolder(tx, hostname)
    if (holder !== null && holder.tenant_ref !== tx.tenant) throw new ApiError('hostname_taken')
    const { total } = await queries.countDomains(tx)
    if (total >= DOMAINS_MAX) throw new ApiError('domain_limit_reached')
    const value = `fd-verify-${randomBase62(24)}`
    const after = await queries.insertDomain(tx, hostname, value)
    await announce(tx, actor, 'claimed', { after })
    return { domain: after, created: true }
  })
}

function checkHostname(text: string, platformHost: string): string {
  const hostname = canonicalHostname(text)
  if (
    hostname === null ||
    hostname.length > CLAIM_LENGTH_MAX ||
    isPublicSuffix(hostname) ||
    [platformHost, ...PRIVATE_ZONES].some((zone) => isWithin(hostname, zone))
  ) {
    throw new ApiError('hostname_invalid')
  }
  return hostname
}

/** The store's domains, newest first. Removed ones only when asked for. */
export async function list(db: Db, status: DomainStatus | undefined, page: Page) {
  const [domains, { total }] = await Promise.all([
    queries.listDomains(db, status, page),
    queries.countDomains(db, status),
  ])
  return { domains, total, ...page }
}

export async function get(db: Db, id: string): Promise<DomainRow> {
  const domain = isUuid(id) ? await queries.findDomain(db, id) : null
  if (domain === null) throw new ApiError('domain_not_found')
  return domain
}

export interface Verifier {
  limits: Pick<Limits, 'velocity'>
  findTxt: FindTxt
}

/** Asks DNS now. `checked` says whether it could be asked: that it could not is no failure. */
export async function verify(
  { limits, findTxt }: Verifier,
  db: TenantDb,
  actor: Actor,
  id: string,
) {
  const asked = await get(db, id)
  if (asked.status === 'removed') throw removed()
  if (!(await limits.velocity(`domains:${db.tenant}`, VERIFICATIONS_PER_MINUTE))) {
    throw new ApiError('rate_limited', {
      message: `Too many attempts: at most ${VERIFICATIONS_PER_MINUTE} per minute. Try again later.`,
      headers: { 'retry-after': String(WINDOW_SECONDS) },
    })
  }
  const finding = await findTxt(asked.verification.name, asked.verification.value)
  const result = await db.transaction('domains: verify', (tx) =>
    applyFinding(tx, actor, asked, finding),
  )
  if (result === null) throw removed()
  if (result.taken) throw new ApiError('hostname_taken')
  return { domain: result.domain, checked: finding !== 'unavailable' }
}

const removed = () =>
  new ApiError('domain_not_active', { message: 'The domain was removed. Claim it again.' })

/** Makes an active domain the one the store is known by. */
export function setPrimary(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: set primary', id, async (tx, before) => {
    if (before.status !== 'active') throw new ApiError('domain_not_active')
    if (before.is_primary) return before
    await queries.clearPrimary(tx)
    const after = await queries.markPrimary(tx, before.id)
    await stores.setPrimaryHostname(tx, after.hostname)
    await announce(tx, actor, 'primary_set', { before, after })
    return after
  })
}

/** Lets a hostname go. Repeating it is harmless. */
export function remove(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: remove', id, async (tx, before) =>
    before.status === 'removed' ? before : end(tx, actor, before, queries.removeDomain),
  )
}

/**
 * Takes a hostname from a store on the operator's word, for another to claim: a quarantine, which
 * would refuse that claim for a month, neither begins nor goes on. The other still has to prove the
 * name.
 */
export function release(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: release', id, async (tx, before) => {
    const ended = await queries.endQuarantines(tx, before.hostname)
    if (before.status === 'removed' && ended === 0) return before
    return end(tx, actor, before, queries.releaseDomain)
  })
}

async function end(
  tx: Tx,
  actor: Actor,
  before: DomainRow,
  write: (tx: Tx, id: string) => Promise<DomainRow>,
): Promise<DomainRow> {
  const after = await write(tx, before.id)
  if (before.is_primary) await stores.setPrimaryHostname(tx, null)
  const action = before.status === 'removed' ? 'released' : 'removed'
  await announce(tx, actor, action, { before, after })
  return after
}

/**
 * Puts a hostname live without asking DNS, on the operator's word. That also ends a quarantine: who
 * moves a name from one store to another need not wait for it. A name that is live stays where it
 * is.
 */
export function activate(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: activate', id, async (tx, before) => {
    if (before.status === 'removed') throw removed()
    if (before.status === 'active') return before
    const other = await findOtherHolder(tx, before.hostname)
    if (other !== null && other.status !== 'removed') throw new ApiError('hostname_taken')
    const after = await queries.activateUnverified(tx, before.id)
    await announce(tx, actor, 'activated', { before, after })
    return after
  })
}

/** The changes of one store's domains follow one another. */
function change(
  db: TenantDb,
  name: string,
  id: string,
  apply: (tx: Tx, before: DomainRow) => Promise<DomainRow>,
): Promise<DomainRow> {
  return db.transaction(name, async (tx) => {
    await queries.lockDomains(tx)
    return apply(tx, await get(tx, id))
  })
}

/** Whose store is served under a hostname, in any spelling. Only active ones are. */
export async function findTenantByHostname(db: Runner, text: string): Promise<string | null> {
  const hostname = canonicalHostname(text)
  const holder = hostname === null ? null : await queries.findHolder(db, hostname)
  return holder?.status === 'active' ? holder.tenant_ref : null
}
