import type { AllStores, Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { invalidBody } from '../../errors.ts'
import { emailDomain, foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import { describeReply } from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import { withdraw } from './consent-queries.ts'
import { refuse } from './errors.ts'
import * as queries from './suppression-queries.ts'
import type {
  FeedbackEvent,
  FeedbackReceipt,
  GlobalSuppression,
  NewSuppression,
  Suppression,
  SuppressionReason,
} from './suppression-schema.ts'

/**
 * Addresses that are sent no marketing: by one store, or by all stores. Mails about orders and accounts are still
 * sent, since a provider may be wrong and a shopper needs them (decision 0051).
 */

/**
 * How many soft bounces suppress an address, each at most so many days after the one before: a mailbox that is full
 * for so long has been abandoned.
 */
const SOFT_BOUNCES = { max: 5, days: 30 }

/** The recorded authors of feedback from the mail provider, and of refusals by a mail server. */
const PROVIDER = 'mail_provider'
const MAIL_SERVER = 'mail_server'

const requireFolded = (email: string): string => {
  const folded = foldEmail(email)
  if (folded === null) throw invalidBody('email', 'must be an e-mail address')
  return folded
}

/** The name of an address in the list of all stores. */
const hashAddress = (email_folded: string): Buffer => sha256(email_folded)

export async function list(
  db: Db,
  { email, reason }: { email: string | undefined; reason: SuppressionReason | undefined },
  page: Page,
) {
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.list(db, { email_folded, reason }, page)
  return { suppressions: rows, ...shown }
}

/** Suppresses an address for a merchant. An address that is already suppressed does not change. */
export function add(
  db: TenantDb,
  actor: audit.Actor,
  { email, detail }: NewSuppression,
): Promise<{ suppression: Suppression; isNew: boolean }> {
  const email_folded = requireFolded(email)
  return db.transaction('suppressions: add', async (tx) => {
    const row = { email, email_folded, detail: detail ?? null, created_by: actor.name }
    const added = await queries.suppress(tx, { ...row, reason: 'manual' })
    if (added !== null) {
      await audit.record(tx, actor, {
        action: 'mail_suppression.added',
        entity: `mail_suppression:${added.id}`,
      })
      return { suppression: added, isNew: true }
    }
    const known = await queries.findByAddress(tx, email_folded)
    // Another call has lifted it since: the caller may try again.
    if (known === null) throw refuse('suppression_not_found')
    return { suppression: known, isNew: false }
  })
}

/** Lifts a suppression for a merchant. A complaint cannot be lifted: it is the reader's own decision. */
export function lift(db: TenantDb, actor: audit.Actor, id: string): Promise<Suppression> {
  return db.transaction('suppressions: lift', async (tx) => {
    const found = isUuid(id) ? await queries.lock(tx, id) : null
    if (found === null) throw refuse('suppression_not_found')
    if (found.reason === 'complaint') throw refuse('complaint_stands')
    await queries.remove(tx, id)
    await audit.record(tx, actor, {
      action: 'mail_suppression.lifted',
      entity: `mail_suppression:${id}`,
      before: { reason: found.reason, suppressed_at: found.suppressed_at },
    })
    return found
  })
}

/** Lifts the suppressions of an address whose reader has opened a mail and confirmed to want more. */
export async function liftConfirmed(tx: Tx, email_folded: string): Promise<void> {
  await queries.removeConfirmed(tx, email_folded)
  await queries.removeGlobally(tx, hashAddress(email_folded))
}

/**
 * Receives the feedback of the mail provider. Each event is stored separately, and storing it again changes
 * nothing, so a request that failed can simply be sent again.
 */
export async function receive(
  database: Database,
  events: readonly FeedbackEvent[],
): Promise<FeedbackReceipt> {
  let suppressed = 0
  for (const event of events) if (await receiveOne(database, event)) suppressed += 1
  return { received: events.length, suppressed }
}

/** Stores an event. Returns whether it has suppressed the address, in a store or in all of them. */
async function receiveOne(database: Database, event: FeedbackEvent): Promise<boolean> {
  const db = event.tenant_ref ? database.tenantForOwnWork(event.tenant_ref) : null
  // A provider may name a store that has another name now or is none of ours: the event then counts as of no store.
  const store = db === null || (await stores.find(db)) === null ? null : db
  if (store !== null) {
    return store.transaction('suppressions: feedback', (tx) => record(tx, event, PROVIDER))
  }
  const { kind, ...told } = describe(event)
  if (kind === 'soft_bounce') return false
  return suppressGlobally(database.directory, { ...told, reason: kind })
}

/** The feedback on a mail of a store, without the store. */
export type MailFeedback = Omit<FeedbackEvent, 'tenant_ref'>

/** Records that a mail server has refused a reader, in the transaction that writes the refusal. */
export const recordRefusal = (tx: Tx, event: MailFeedback): Promise<boolean> =>
  record(tx, event, MAIL_SERVER)

/** Records an event of a store. Returns whether it has suppressed the address, in the store or in all of them. */
async function record(tx: Tx, event: MailFeedback, created_by: string): Promise<boolean> {
  const { kind, ...told } = describe(event)
  if (kind === 'soft_bounce') {
    const { event_id } = event
    return queries.countSoftBounce(tx, { ...told, event_id, created_by }, SOFT_BOUNCES)
  }
  const added = await queries.suppress(tx, { ...told, reason: kind, created_by })
  if (kind === 'complaint') await withdraw(tx, { ...told, source: 'complaint' })
  // An address that does not exist does not exist for any store. A complaint is about one store.
  const isNewGlobally =
    kind === 'hard_bounce' && (await suppressGlobally(tx, { ...told, reason: kind }))
  return added !== null || isNewGlobally
}

/** Returns an event as it is stored. Its text repeats the address, which only the address column may have. */
function describe(event: MailFeedback) {
  const { email, kind } = event
  const email_folded = requireFolded(email)
  const words = event.detail ?? null
  const detail = words === null ? null : describeReply(words, [email, email_folded])
  return { kind, email, email_folded, detail }
}

const suppressGlobally = (
  db: Runner,
  {
    email_folded,
    reason,
    detail,
  }: { email_folded: string; reason: GlobalSuppression['reason']; detail: string | null },
) =>
  queries.suppressGlobally(db, {
    email_hash: hashAddress(email_folded),
    domain: emailDomain(email_folded),
    reason,
    detail,
  })

export async function listGlobal(operator: AllStores, page: Page) {
  const { rows, shown } = await queries.listGlobal(operator, page)
  return { suppressions: rows, ...shown }
}

/** Lifts a suppression of all stores, for the operator. Those of single stores stay. */
export async function liftGlobal(database: Database, email: string): Promise<void> {
  const removed = await queries.removeGlobally(
    database.directory,
    hashAddress(requireFolded(email)),
  )
  if (removed === 0) throw refuse('suppression_not_found')
}
