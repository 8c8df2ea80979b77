import type { Logger } from 'pino'
import type { Database, TenantDb } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import { DAY_MS } from '../../kernel/time.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { InvalidMailError, type MailTransport } from '../../platform/mail.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'
import { createSlotWorker, type SlotWorker } from '../../platform/slot-worker.ts'
import * as giftCards from '../gift-cards/service.ts'
import { isKeptFromMail } from '../stores/sandbox-mail.ts'
import { loadMail, type MailDeps } from './compose.ts'
import { writeCopy } from './copy.ts'
import * as queries from './queries.ts'
import type { DueMail } from './schema.ts'
import { isEnabled, writeMail } from './service.ts'

/** How long to wait after each failed attempt except the last: together most of a day. */
export const RETRY_SECONDS = [60, 300, 1_800, 7_200, 21_600, 43_200] as const

/** The age at which a mail is no longer sent: its text is out of date, as after a worker was down. */
const STALE_MS = 3 * DAY_MS

/** How many mails a worker sends at the same time, each over a connection of its own. */
const SLOTS = 20

/** How many of these slots one store may have. */
const PER_STORE = 5

export interface MailWorkerOptions extends MailDeps {
  /** As fd_worker. */
  database: Database
  transport: MailTransport
  limits: Pick<Limits, 'velocity'>
  /** The most mails of one store in a minute. */
  perMinute: number
  logger: Logger
  onFree?: () => void
  slots?: number
  leaseSeconds?: number
  /** For tests: runs after the mail server has accepted a mail and before that is recorded. */
  onAccepted?: () => Promise<void>
}

type ClaimedMail = DueMail & Lease

/**
 * Sends the mails to shoppers that are due. Stores take turns, and a store that has sent its mails of a minute rests
 * until the minute is over.
 *
 * A mail is sent once. Only if a worker dies between the reply of the mail server and our own record of it, it is
 * sent a second time, with the same message-id; if that happens again, it is dead.
 */
export function createMailWorker(options: MailWorkerOptions): SlotWorker {
  const { database, slots = SLOTS, onFree, leaseSeconds } = options
  const restUntil = new Map<string, number>()
  const resting = () => {
    for (const [store, until] of restUntil) if (until <= machineNow()) restUntil.delete(store)
    return restUntil.keys()
  }
  return createSlotWorker({
    database,
    queue: queries.queue,
    slots,
    perStore: Math.min(PER_STORE, Math.ceil(slots / 2)),
    resting,
    onFree,
    ...(leaseSeconds !== undefined && { leaseSeconds }),
    async work(mail) {
      const db = database.tenant(mail.tenant_ref)
      const isWithin = await attemptWithinLimit(options, db, mail)
      if (!isWithin) restUntil.set(db.tenant, machineNow() + WINDOW_SECONDS * 1_000)
    },
  })
}

/** Sends a mail. Returns false if the store has already sent its mails of this minute: the mail then stays due. */
async function attemptWithinLimit(
  options: MailWorkerOptions,
  db: TenantDb,
  mail: ClaimedMail,
): Promise<boolean> {
  const { limits, perMinute, leaseSeconds } = options
  if (!(await limits.velocity(`shopper-mail:${db.tenant}`, perMinute))) {
    await queries.queue.release(db, mail)
    return false
  }
  await queries.queue.runWithLease(db, mail, () => attempt(options, db, mail), leaseSeconds)
  return true
}

/**
 * The mails of one store as due work, for a store whose clock is being moved. The limit of mails per minute goes by
 * the machine's clock; beyond it, the store's time goes on without waiting for them.
 */
export const dueMails = (options: MailWorkerOptions): DueWork => ({
  kind: 'mail',
  mayLag: true,
  nextDue: queries.nextMail,
  async runDue(db) {
    const mails = await queries.queue.claim(db, PER_STORE)
    const within = await Promise.all(mails.map((mail) => attemptWithinLimit(options, db, mail)))
    const tried = mails.filter((_, index) => within[index])
    const results = await queries.listResults(
      db,
      tried.map(({ id }) => id),
    )
    const ran = results.map(({ id, kind, state }) => ({
      id,
      outcome: `${kind} ${state === 'queued' ? 'failed' : state}`,
    }))
    return { count: ran.length, ran }
  },
})

async function attempt(options: MailWorkerOptions, db: TenantDb, mail: ClaimedMail) {
  if (wasInterrupted(mail) && mail.interrupted) {
    return queries.finishDead(db, mail, 'interrupted', null)
  }
  // A mail that a merchant sends again is sent whatever the settings are and however old it is.
  const isResend = mail.resend_count > 0
  if (!isResend && Date.parse(mail.queued_at) < db.clock.now() - STALE_MS) {
    return queries.finishSkipped(db, mail, 'too_old')
  }
  if (!isResend && !(await isEnabled(db, mail.kind))) {
    return queries.finishSkipped(db, mail, 'opted_out')
  }
  let written: Awaited<ReturnType<typeof write>>
  try {
    written = await write(options, db, mail)
  } catch (error) {
    // A mail that cannot be written must not stop the loop, and thereby all other mails.
    options.logger.error({ err: error, mail_id: mail.id }, 'a mail to a shopper cannot be written')
    return recordFailure(db, mail, error, null)
  }
  if (!('skip' in written)) return send(options, db, mail, written)
  return written.skip === 'no_address'
    ? queries.finishWithoutAddress(db, mail)
    : queries.finishSkipped(db, mail, written.skip)
}

/** Writes the mail as the transport gets it, or returns why it is not sent. */
async function write(deps: MailDeps, db: TenantDb, mail: ClaimedMail) {
  const loaded = await loadMail(deps, db, mail)
  if ('skip' in loaded) return loaded
  const { facts } = loaded
  const recipient = mail.resend_to ?? loaded.recipient
  if (isKeptFromMail(facts.store, recipient)) return { skip: 'sandbox' as const }
  const { subject, html, text, language } = writeMail(facts)
  const { name: fromName, email: replyTo } = facts.store
  const copy = writeCopy(facts)
  return { recipient, language, copy, subject, html, body: text, fromName, replyTo }
}

type WrittenMail = Exclude<Awaited<ReturnType<typeof write>>, { skip: unknown }>

/** Whether a worker has called the mail server and never recorded the result. */
const wasInterrupted = ({ sending_at }: ClaimedMail): boolean => sending_at !== null

async function send(
  { transport, onAccepted }: MailWorkerOptions,
  db: TenantDb,
  mail: ClaimedMail,
  { language, copy, ...written }: WrittenMail,
) {
  const { recipient } = written
  const interrupted = wasInterrupted(mail) || mail.interrupted
  const sending = { recipient, language, interrupted }
  if (!(await queries.markSending(db, mail, sending))) {
    throw new LeaseLostError(`mail ${mail.id}`, mail.lease_token)
  }
  try {
    // All attempts of one mail have one id, so that a mail server can drop the second.
    await transport.deliver({ id: `${mail.id}.${mail.resend_count}`, ...written })
  } catch (error) {
    return recordFailure(db, mail, error, recipient)
  }
  await onAccepted?.()
  if (mail.kind === 'gift_card') await giftCards.recordSent(db, mail.about_id)
  return queries.finishSent(db, mail, copy)
}

/**
 * Records a failed attempt. A mail that can never be sent is dead at once; any other is tried again until the ladder
 * ends.
 */
function recordFailure(
  db: TenantDb,
  mail: ClaimedMail,
  error: unknown,
  recipient: string | null,
): Promise<void> {
  const text = describe(error, recipient)
  const wait = RETRY_SECONDS[mail.attempt_count]
  return wait === undefined || error instanceof InvalidMailError
    ? queries.finishDead(db, mail, 'refused', text)
    : queries.finishFailed(db, mail, text, wait)
}

/** Writes an error as text that fits its column. Mail servers repeat the address, which the operator must not see. */
function describe(error: unknown, recipient: string | null): string {
  const message = error instanceof Error ? error.message : 'not an Error'
  const hidden = recipient === null ? message : message.replaceAll(recipient, '[address]')
  return [...hidden.toWellFormed().replace(/\p{Cc}+/gu, ' ')].slice(0, 500).join('')
}
