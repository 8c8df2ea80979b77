import type { Tx } from '../../db/database.ts'
import { hostSubject } from '../../kernel/hostname.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import * as mail from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import * as queries from './queries.ts'
import type { CheckSubject, DomainRow } from './schema.ts'
import type { DnsResult } from './txt-lookup.ts'

/**
 * Finds another store that holds a hostname. Until the transaction ends no store can become its
 * holder.
 *
 * A unique index over all stores is not possible: keys begin with the tenant, so that the table can
 * be partitioned by it. So every transaction that gives a hostname to a store first locks the
 * hostname, and then, in a second statement, asks the database function of the gate role who holds
 * it. Of two transactions the later one waits for the commit of the first, and then sees its
 * hostname.
 */
export async function findOtherHolder(tx: Tx, hostname: string) {
  await queries.lockHostname(tx, hostname)
  const holder = await queries.findHolder(tx, hostname)
  return holder === null || holder.tenant_ref === tx.tenant ? null : holder
}

/** Records a change in the audit log, and notifies the live caches of the store and of the hostname. */
export async function recordChange(
  tx: Tx,
  actor: audit.Actor,
  action: string,
  { before, after }: { before?: DomainRow; after: DomainRow },
): Promise<void> {
  await audit.record(tx, actor, {
    action: `domain.${action}`,
    entity: `domain:${after.id}`,
    ...(before === undefined ? {} : { before: auditedFields(before) }),
    after: auditedFields(after),
  })
  await notifyChanged(tx)
  await notifyChanged(tx, hostSubject(after.hostname))
}

const auditedFields = ({ hostname, status, is_primary, last_error }: DomainRow) => ({
  hostname,
  status,
  is_primary,
  last_error,
})

/** Whether the TLS front of the installation asks before it gets a certificate. */
export interface TlsFront {
  asksForTls: boolean
}

export interface CheckResult {
  domain: DomainRow
  /** The record exists, but another store holds the hostname. */
  taken: boolean
}

/**
 * Applies the result of a DNS lookup. `checked` is the domain as it was before the lookup. During
 * the lookup the domain may have been removed, or another check may have ended. In that case only
 * the result `found` still counts: a record that exists now is a fact, whatever the other check has
 * seen.
 */
export async function applyDnsResult(
  tx: Tx,
  actor: audit.Actor,
  checked: CheckSubject,
  { result, asksForTls }: { result: DnsResult } & TlsFront,
): Promise<CheckResult | null> {
  await queries.lockDomains(tx)
  const domain = await queries.findDomain(tx, checked.id)
  if (domain === null || domain.status === 'removed') return null
  const overtaken =
    domain.status !== checked.status || domain.last_checked_at !== checked.last_checked_at
  if (result !== 'found' && overtaken) return { domain, taken: false }
  if (result === 'unavailable') {
    return { domain: await queries.recordOutage(tx, domain.id), taken: false }
  }
  if (domain.status === 'active') {
    return { domain: await recheckActive(tx, actor, domain, result), taken: false }
  }
  // Another lookup has no effect before a certificate is asked for.
  if (domain.status === 'verified' || domain.status === 'provisioning') {
    return { domain, taken: false }
  }
  if (result === 'missing') {
    return { domain: await recordFailedCheck(tx, actor, domain, 'record_not_found'), taken: false }
  }
  if ((await findOtherHolder(tx, domain.hostname)) !== null) {
    return { domain: await recordFailedCheck(tx, actor, domain, 'hostname_taken'), taken: true }
  }
  const write = asksForTls ? queries.markVerified : queries.activateVerified
  const after = await write(tx, domain.id)
  await recordChange(tx, actor, 'verified', { before: domain, after })
  if (!asksForTls) await recordChange(tx, actor, 'activated', { before: domain, after })
  return { domain: after, taken: false }
}

async function recordFailedCheck(
  tx: Tx,
  actor: audit.Actor,
  before: DomainRow,
  error: 'record_not_found' | 'hostname_taken',
) {
  const after = await queries.recordRefusal(tx, before.id, error)
  if (after.status !== before.status) await recordChange(tx, actor, 'failed', { before, after })
  return after
}

/**
 * Writes the result of a new check of an active hostname. It stays active without its record, for the sake of
 * its shoppers. The owner gets a mail.
 */
async function recheckActive(
  tx: Tx,
  actor: audit.Actor,
  before: DomainRow,
  result: 'found' | 'missing',
) {
  if (result === 'found') return queries.recordFound(tx, before.id)
  const after = await queries.recordLapse(tx, before.id)
  if (before.lapsed_at === null && after.lapsed_at !== null) {
    await recordChange(tx, actor, 'lapsed', { before, after })
    await warnOwner(tx, after)
  }
  return after
}

async function warnOwner(tx: Tx, { hostname, verification }: DomainRow) {
  const { owner_email, display_name } = await stores.get(tx)
  if (owner_email === null) return
  await mail.send(tx, {
    to: owner_email,
    subject: 'A DNS record of your store is missing',
    text: `DNS no longer has the TXT record that proves that ${hostname} belongs to your store ${display_name}.

The store is still served at ${hostname}. To keep the hostname, set the record again:

  ${verification.name}  TXT  ${verification.value}
`,
    tenant_ref: tx.tenant,
  })
}
