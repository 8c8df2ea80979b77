import type { Database, TenantDb } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import { canonicalHostname } from '../../kernel/hostname.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as queries from './queries.ts'
import { recordChange } from './verification.ts'

/**
 * The questions of a TLS front before it gets a certificate for a hostname, and their effects. The status changes by
 * events, and never by time: verified, then provisioning with the first question, then active with the first request
 * that the front lets through.
 */

/**
 * Whether a certificate for the hostname may be got: its owner has proved it. The status of the store plays no part.
 */
export async function mayHaveCertificate(database: Database, hostname: string): Promise<boolean> {
  const holder = await queries.findHolder(database.directory, hostname)
  if (holder === null || holder.status === 'removed') return false
  if (holder.status === 'verified') {
    await advance(database.tenant(holder.tenant_ref), hostname, 'provisioning')
  }
  return true
}

/**
 * Finds the store that a request for a hostname is for. The first request for a hostname that is being provisioned
 * makes it active: the front lets no request through before it has the certificate.
 */
export async function findServedTenant(database: Database, text: string): Promise<string | null> {
  const hostname = canonicalHostname(text)
  const holder = hostname === null ? null : await queries.findHolder(database.directory, hostname)
  if (hostname === null || holder === null) return null
  if (holder.status === 'active') return holder.tenant_ref
  if (holder.status !== 'provisioning') return null
  await advance(database.tenant(holder.tenant_ref), hostname, 'active')
  return holder.tenant_ref
}

/** The status before each step. Of two requests at once, one makes the step, and the other finds it made. */
const BEFORE = { provisioning: 'verified', active: 'provisioning' } as const

function advance(db: TenantDb, hostname: string, to: keyof typeof BEFORE): Promise<void> {
  return db.transaction(`domains: ${to}`, async (tx) => {
    await queries.lockDomains(tx)
    const before = await queries.findClaim(tx, hostname)
    if (before?.status !== BEFORE[to]) return
    const write = to === 'active' ? queries.activateServed : queries.markProvisioning
    const after = await write(tx, before.id)
    await recordChange(tx, SYSTEM, to === 'active' ? 'activated' : to, { before, after })
  })
}

/** Questions that are looked up at once, and how long a refusal is repeated without a look. */
const LOOKUPS_MAX = 4
const REFUSED_MS = 10_000
const REFUSED_MAX = 1_000

/**
 * Makes the answer to the questions of a TLS front: 200, 404, or 503 if it is not known now. Strangers make the front
 * ask, by connecting with any name; so few questions are looked up at once, and refused names are not looked up again
 * soon.
 */
export function answerCertificates(
  mayHave: (hostname: string) => Promise<boolean>,
): (text: string) => Promise<200 | 404 | 503> {
  const refused = new Map<string, number>()
  let looking = 0
  return async (text) => {
    const hostname = canonicalHostname(text)
    if (hostname === null || (refused.get(hostname) ?? 0) > machineNow()) return 404
    if (looking >= LOOKUPS_MAX) return 503
    looking++
    try {
      if (await mayHave(hostname)) return 200
    } catch {
      return 503
    } finally {
      looking--
    }
    if (refused.size >= REFUSED_MAX) refused.clear()
    refused.set(hostname, machineNow() + REFUSED_MS)
    return 404
  }
}
