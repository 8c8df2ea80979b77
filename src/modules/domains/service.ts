import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
import { canonicalHostname, HOSTNAME_LENGTH_MAX, isWithin } from '../../kernel/hostname.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { randomBase62 } from '../../kernel/tokens.ts'
import type { Actor } from '../../platform/audit.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import { isPublicSuffix } from './public-suffixes.ts'
import * as queries from './queries.ts'
import type { DomainRow, DomainStatus } from './schema.ts'
import type { FindTxt } from './txt-lookup.ts'
import { applyDnsResult, findOtherHolder, recordChange, type TlsFront } from './verification.ts'

/** More hostnames than any store needs, and few enough to check them all. */
export const DOMAINS_MAX = 100

/** Verifications of one store in a minute: each is a query to a name server of a third party. */
const VERIFICATIONS_PER_MINUTE = 10

/**
 * The label of our record comes before the hostname, and both together must fit into a DNS name.
 */
const CLAIM_LENGTH_MAX = HOSTNAME_LENGTH_MAX - '_fd-verify.'.length

/** Zones that are not part of the public DNS. */
const PRIVATE_ZONES = ['localhost', 'local', 'internal', 'invalid', 'onion', 'arpa']

/**
 * Claims a hostname. A claim alone gives no right, and blocks no other store: the hostname becomes
 * the store's own by the DNS record, which only the owner of the zone can set.
 */
export function claim(db: TenantDb, actor: Actor, text: string, platformHost: string) {
  const hostname = checkHostname(text, platformHost)
  return db.transaction('domains: claim', async (tx) => {
    await queries.lockDomains(tx)
    const before = await queries.findClaim(tx, hostname)
    if (before !== null) return { domain: before, created: false }
    const holder = await queries.findHolder(tx, hostname)
    if (holder !== null && holder.tenant_ref !== tx.tenant) throw refuse('hostname_taken')
    const { in_use } = await queries.countInUse(tx)
    if (in_use >= DOMAINS_MAX) {
      throw refuse('domain_limit_reached', { body: { max: DOMAINS_MAX, used: in_use } })
    }
    const value = `fd-verify-${randomBase62(24)}`
    const after = await queries.insertDomain(tx, hostname, value)
    await recordChange(tx, actor, 'claimed', { after })
    return { domain: after, created: true }
  })
}

/** Counts the hostnames that the store has. */
export const countInUse = async (db: Db) => (await queries.countInUse(db)).in_use

function checkHostname(text: string, platformHost: string): string {
  const hostname = canonicalHostname(text)
  if (
    hostname === null ||
    hostname.length > CLAIM_LENGTH_MAX ||
    isPublicSuffix(hostname) ||
    [platformHost, ...PRIVATE_ZONES].some((zone) => isWithin(hostname, zone))
  ) {
    throw refuse('hostname_invalid')
  }
  return hostname
}

/** Lists the store's domains, newest first. Removed ones only if the filter names them. */
export async function list(db: Db, status: DomainStatus | undefined, page: Page) {
  const { rows, shown } = await queries.listDomains(db, status, page)
  return { domains: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<DomainRow> {
  const domain = isUuid(id) ? await queries.findDomain(db, id) : null
  if (domain === null) throw refuse('domain_not_found')
  return domain
}

export interface Verifier extends TlsFront {
  limits: Pick<Limits, 'velocity'>
  findTxt: FindTxt
}

/** Checks a hostname now. `checked` is false if DNS was unavailable, which is no failure. */
export async function verify(
  { limits, findTxt, asksForTls }: Verifier,
  db: TenantDb,
  actor: Actor,
  id: string,
) {
  const before = await get(db, id)
  if (before.status === 'removed') throw removed()
  if (!(await limits.velocity(`domains:${db.tenant}`, VERIFICATIONS_PER_MINUTE))) {
    throw new ApiError('rate_limited', {
      message: `Too many attempts: at most ${VERIFICATIONS_PER_MINUTE} per minute. Try again later.`,
      headers: { 'retry-after': String(WINDOW_SECONDS) },
    })
  }
  const found = await findTxt(before.verification.name, before.verification.value)
  const result = await db.transaction('domains: verify', (tx) =>
    applyDnsResult(tx, actor, before, { result: found, asksForTls }),
  )
  if (result === null) throw removed()
  if (result.taken) throw refuse('hostname_taken')
  return { domain: result.domain, checked: found !== 'unavailable' }
}

const removed = () =>
  refuse('domain_not_active', { message: 'The domain was removed. Claim it again.' })

/** Makes an active domain the primary one of the store. */
export function setPrimary(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: set primary', id, async (tx, before) => {
    if (before.status !== 'active') throw refuse('domain_not_active')
    if (before.is_primary) return before
    await queries.clearPrimary(tx)
    const after = await queries.markPrimary(tx, before.id)
    await stores.setPrimaryHostname(tx, after.hostname)
    await recordChange(tx, actor, 'primary_set', { before, after })
    return after
  })
}

/** Removes a hostname. A repeated call is harmless. */
export function remove(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: remove', id, async (tx, before) =>
    before.status === 'removed' ? before : end(tx, actor, before, queries.removeDomain),
  )
}

/**
 * Removes a hostname from a store, by an operator, so that another store can claim it. No
 * quarantine begins, and a running one ends: it would refuse that claim for a month. The other
 * store still has to verify the hostname.
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
  await recordChange(tx, actor, action, { before, after })
  return after
}

/**
 * Activates a hostname without a DNS check, by an operator. A quarantine of another store does not
 * prevent it, so that an operator can move a hostname at once. A hostname that is active for
 * another store is refused.
 */
export function activate(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'domains: activate', id, async (tx, before) => {
    if (before.status === 'removed') throw removed()
    if (before.status === 'active') return before
    const other = await findOtherHolder(tx, before.hostname)
    if (other !== null && other.status !== 'removed') throw refuse('hostname_taken')
    const after = await queries.activateUnverified(tx, before.id)
    await recordChange(tx, actor, 'activated', { before, after })
    return after
  })
}

/** Changes a domain under the store's lock, so that changes run one after the other. */
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

/** The store that a hostname in any spelling belongs to. Only active hostnames count. */
export async function findTenantByHostname(db: Runner, text: string): Promise<string | null> {
  const hostname = canonicalHostname(text)
  const holder = hostname === null ? null : await queries.findHolder(db, hostname)
  return holder?.status === 'active' ? holder.tenant_ref : null
}
