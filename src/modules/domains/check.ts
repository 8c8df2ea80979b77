import type { Tx } from '../../db/database.ts'
import { hostSubject } from '../../kernel/hostname.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import * as mail from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import type { Finding } from './lookup.ts'
import * as queries from './queries.ts'
import type { CheckSubject, DomainRow } from './schema.ts'

/**
 * Who else holds a hostname, or null. Until the transaction ends nobody can become its holder.
 *
 * A unique index over all stores is not to be had: keys begin with the tenant, so that the table
 * can be spread by it. So whoever gives a name to a store takes a lock on the name first, and then,
 * in a statement of its own, asks the gate who has it. The loser of two waits for the winner's
 * commit, and its question is put after that, so it sees the winner.
 */
export async function findOtherHolder(tx: Tx, hostname: string) {
  await queries.lockHostname(tx, hostname)
  const holder = await queries.findHolder(tx, hostname)
  return holder === null || holder.tenant_ref === tx.tenant ? null : holder
}

/** Writes down a change and tells it to whoever serves the store or looks the hostname up. */
export async function announce(
  tx: Tx,
  actor: audit.Actor,
  action: string,
  { before, after }: { before?: DomainRow; after: DomainRow },
): Promise<void> {
  await audit.record(tx, actor, {
    action: `domain.${action}`,
    entity: `domain:${after.id}`,
    ...(before === undefined ? {} : { before: essence(before) }),
    after: essence(after),
  })
  await notifyChanged(tx)
  await notifyChanged(tx, hostSubject(after.hostname))
}

const essence = ({ hostname, status, is_primary, last_error }: DomainRow) => ({
  hostname,
  status,
  is_primary,
  last_error,
})

export interface CheckResult {
  domain: DomainRow
  /** The record is there, but another store has the name. */
  taken: boolean
}

/**
 * Writes down what DNS said. `asked` is the domain as it was before the question, which took its
 * time: meanwhile it may have been removed, or another check may have come to an end. Then only
 * news that the record is there still counts, since what is there now was not missed by anybody.
 */
export async function applyFinding(
  tx: Tx,
  actor: audit.Actor,
  asked: CheckSubject,
  finding: Finding,
): Promise<CheckResult | null> {
  await queries.lockDomains(tx)
  const domain = await queries.findDomain(tx, asked.id)
  if (domain === null || domain.status === 'removed') return null
  const overtaken =
    domain.status !== asked.status || domain.last_checked_at !== asked.last_checked_at
  if (finding !== 'found' && overtaken) return { domain, taken: false }
  if (finding === 'unavailable') {
    return { domain: await queries.recordOutage(tx, domain.id), taken: false }
  }
  if (domain.status === 'active') {
    return { domain: await recheckActive(tx, actor, domain, finding), taken: false }
  }
  if (finding === 'missing') {
    return { domain: await refuse(tx, actor, domain, 'record_not_found'), taken: false }
  }
  if ((await findOtherHolder(tx, domain.hostname)) !== null) {
    return { domain: await refuse(tx, actor, domain, 'hostname_taken'), taken: true }
  }
  const after = await queries.activateVerified(tx, domain.id)
  await announce(tx, actor, 'verified', { before: domain, after })
  await announce(tx, actor, 'activated', { before: domain, after })
  return { domain: after, taken: false }
}

async function refuse(
  tx: Tx,
  actor: audit.Actor,
  before: DomainRow,
  error: 'record_not_found' | 'hostname_taken',
) {
  const after = await queries.recordRefusal(tx, before.id, error)
  if (after.status !== before.status) await announce(tx, actor, 'failed', { before, after })
  return after
}

/** A live name stays live whatever DNS says: its shoppers did nothing wrong. Its owner is told. */
async function recheckActive(
  tx: Tx,
  actor: audit.Actor,
  before: DomainRow,
  finding: 'found' | 'missing',
) {
  if (finding === 'found') return queries.recordSeen(tx, before.id)
  const after = await queries.recordLapse(tx, before.id)
  if (before.lapsed_at === null && after.lapsed_at !== null) {
    await announce(tx, actor, 'lapsed', { before, after })
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
