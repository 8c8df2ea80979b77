import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { emailDomain, foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as stores from '../stores/service.ts'
import { withdraw } from './consent-queries.ts'
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
 * Addresses that are sent no marketing: of a store, and of all stores. Mails about orders and accounts are
 * sent all the same, since a provider may be wrong and a shopper needs them.
 */

/** A mailbox that is full for a month has been abandoned. */
const SOFT_BOUNCES = { max: 5, days: 30 }

/** Recorded as the author of what the provider told. */
const PROVIDER = 'mail_provider'

const requireFolded = (email: string): string => {
  const folded = foldEmail(email)
  if (folded === null) throw invalidBody('email', 'must be an e-mail address')
  return folded
}

/** The name of an address in the list of all stores. */
export const hashAddress = (email_folded: string): Buffer => sha256(email_folded)

export async function list(
  db: Db,
  { email, reason }: { email: string | undefined; reason: SuppressionReason | undefined },
  page: Page,
) {
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.list(db, { email_folded, reason }, page)
  return { suppressions: rows, ...shown }
}

/** A merchant suppresses an address. One that is suppressed already stays as it is. */
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
    // Lifted by another call since then: the caller may ask again.
    if (known === null) throw new ApiError('suppression_not_found')
    return { suppression: known, isNew: false }
  })
}

/** A merchant lifts a suppression. A complaint is the reader's own decision. */
export function lift(db: TenantDb, actor: audit.Actor, id: string): Promise<Suppression> {
  return db.transaction('suppressions: lift', async (tx) => {
    const found = isUuid(id) ? await queries.lock(tx, id) : null
    if (found === null) throw new ApiError('suppression_not_found')
    if (found.reason === 'complaint') throw new ApiError('complaint_stands')
    await queries.remove(tx, id)
    await audit.record(tx, actor, {
      action: 'mail_suppression.lifted',
      entity: `mail_suppression:${id}`,
      before: { reason: found.reason, suppressed_at: found.suppressed_at },
    })
    return found
  })
}

/** Lifts what a reader has proven wrong by opening a mail and confirming that they want more. */
export async function liftConfirmed(tx: Tx, email_folded: string): Promise<void> {
  await queries.removeConfirmed(tx, email_folded)
  await queries.removeGlobally(tx, hashAddress(email_folded))
}

/**
 * Takes in what the mail provider tells. Each event is stored by itself, and storing it again changes nothing,
 * so that a request that failed is simply sent again.
 */
export async function receive(
  database: Database,
  events: readonly FeedbackEvent[],
): Promise<FeedbackReceipt> {
  let suppressed = 0
  for (const event of events) if (await receiveOne(database, event)) suppressed += 1
  return { received: events.length, suppressed }
}

/** Whether the event has suppressed the address, somewhere. */
async function receiveOne(database: Database, event: FeedbackEvent): Promise<boolean> {
  const email_folded = requireFolded(event.email)
  const detail = describe(event.detail ?? null, [event.email, email_folded])
  const db = event.tenant_ref ? database.tenant(event.tenant_ref) : null
  // A provider may name a store that has been renamed or is none of ours: then it names none.
  const store = db === null || (await stores.find(db)) === null ? null : db
  if (event.kind === 'soft_bounce') {
    if (store === null) return false
    return store.transaction('suppressions: soft bounce', (tx) =>
      queries.countSoftBounce(
        tx,
        {
          email: event.email,
          email_folded,
          event_id: event.event_id,
          detail,
          created_by: PROVIDER,
        },
        SOFT_BOUNCES,
      ),
    )
  }
  const told = { email: event.email, email_folded, reason: event.kind, detail }
  if (store === null) return suppressGlobally(database.global, told)
  return store.transaction('suppressions: feedback', async (tx) => {
    const added = await queries.suppress(tx, { ...told, created_by: PROVIDER })
    if (event.kind === 'complaint') {
      await withdraw(tx, { email: told.email, email_folded, source: 'complaint' })
    }
    // An address that does not exist exists for no store. A complaint is about one.
    const isNewGlobally = event.kind === 'hard_bounce' && (await suppressGlobally(tx, told))
    return added !== null || isNewGlobally
  })
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

/** Some ids of mail servers look like the number of a card, which no text may have. */
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g

/** The provider's words, fit for their column. They repeat the address, which only its own column may have. */
function describe(text: string | null, addresses: readonly string[]): string | null {
  if (text === null) return null
  const hidden = addresses.reduce(
    (left, address) => left.replace(new RegExp(literal(address), 'gi'), '[address]'),
    text.toWellFormed(),
  )
  const safe = hidden.replace(LONG_NUMBER, '[number]').replace(/\p{Cc}+/gu, ' ')
  return [...safe].slice(0, 500).join('')
}

/** A pattern that matches the text itself. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

export async function listGlobal(operator: Runner, page: Page) {
  const { rows, shown } = await queries.listGlobal(operator, page)
  return { suppressions: rows, ...shown }
}

/** The operator lifts a suppression of all stores. Those of stores stay. */
export async function liftGlobal(database: Database, email: string): Promise<void> {
  const removed = await queries.removeGlobally(database.global, hashAddress(requireFolded(email)))
  if (removed === 0) throw new ApiError('suppression_not_found')
}
