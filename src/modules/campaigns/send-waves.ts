import { awaitAll } from '../../db/await-all.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import type { BulkTransport, Outcome } from '../../platform/bulk-smtp.ts'
import type { Sign } from '../../platform/dkim.ts'
import type { Lease } from '../../platform/leases.ts'
import {
  addressOf,
  type DkimKey,
  describeReply,
  domainOf,
  InvalidMailError,
  isAddress,
} from '../../platform/mail.ts'
import type { WriteMessage } from '../../platform/mime.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import { bounceOf } from './bounce.ts'
import type { MailDeps } from './deps.ts'
import * as mailings from './mailing-queries.ts'
import type { Bounce, CampaignPorts } from './ports.ts'
import type { QueuedRecipient } from './schema.ts'

/**
 * Sends the recipients of a mailing in waves. SMTP cannot say whether a mail that was handed over before a
 * crash was sent. So a wave is claimed before the mail server is called, and its results are written after
 * its reply, in the transaction that claims the next one (decision 0053).
 */

export interface SendingDeps extends MailDeps, Pick<CampaignPorts, 'recordBounce'> {
  transport: BulkTransport
  /** Signs the mails. Null: they are not signed here. */
  dkim: DkimKey | null
  /** The sender of all mails, as `Name <address>`. */
  from: string
  limits: Pick<Limits, 'addHits'>
  /** Mails of one store in a minute. */
  perMinute: number
  /** How long a mailing waits if the mail server or a limit holds it back. By default a minute, and 10 s. */
  heldBackSeconds?: number
  /** For tests: called after the mail server has replied and before the result is written. */
  onAnswered?: () => Promise<void>
}

/** The size of the first waves, and of all waves if the mail server is slow. */
export const WAVE = 20

/**
 * The most mails of one wave. A claim costs the same for any number, but a kill leaves as many unknown (decision 0060).
 */
export const WAVE_MAX = 100

/** How long a wave should take: a kill leaves about as many mails unknown as are sent in that time. */
const WAVE_MS = 100

/** Waves at a time: one is claimed or recorded while the other is sent. */
export const WAVES = 2

/** The wait after each mail that was deferred, except the last. */
export const RETRY_SECONDS = [300, 1_800, 7_200] as const

/** The wait where the mail server takes no mails. */
export const UNAVAILABLE_SECONDS = 60

/** The consent of a mail that has waited longer than this for a slow mail server is checked again. */
const CONSENT_MS = 1_000

/** Why a turn ended. */
export type End = 'done' | 'turn' | 'paced' | 'unavailable' | 'stopped'

export interface Turn {
  lease: Lease
  write: WriteMessage
  /** Null: mails are not signed here. */
  sign: Sign | null
  /**
   * Ends with the page of recipients that is being written down. Null once all recipients of this turn are written
   * down.
   */
  page: Promise<void> | null
  /** The last recipient that was claimed. Recipients before it were claimed, or wait for a later attempt. */
  after: string
  tried: number
  /** Why the turn ended; null while it goes on. */
  end: End | null
  /** Whether claimed mails that are not begun yet are queued again, because the mail server accepts none. */
  isHeldBack: boolean
  /** When the turn ends, in machine time. */
  until: number
  signal: AbortSignal
}

/** Sends waves until the turn ends. All lanes end before an error is thrown: none may claim after it. */
export async function sendWaves(deps: SendingDeps, db: TenantDb, turn: Turn): Promise<void> {
  const lanes = Array.from({ length: WAVES }, () => sendLane(deps, db, turn))
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

async function sendLane(deps: SendingDeps, db: TenantDb, turn: Turn): Promise<void> {
  let results: Result[] = []
  let size = WAVE
  try {
    for (;;) {
      const { page } = turn
      const limit = (await goesOn(deps, db, turn, size)) ? size : 0
      if (limit === 0 && results.length === 0) return
      const wave = await db.transaction('campaign mail: wave', (tx) =>
        moveOn(deps, tx, turn, { results, limit, isLast: page === null }),
      )
      results = []
      if (wave.length === 0) {
        await page
        continue
      }
      const startedAt = machineNow()
      results = await sendWave(deps, db, turn, wave)
      size = nextSize(deps, wave.length, machineNow() - startedAt)
    }
  } catch (error) {
    turn.end ??= 'turn'
    // A failed claim must not lose the results of mails that were sent.
    if (results.length > 0) {
      await db.transaction('campaign mail: results', (tx) =>
        moveOn(deps, tx, turn, { results, limit: 0, isLast: false }),
      )
    }
    throw error
  }
}

async function goesOn(deps: SendingDeps, db: TenantDb, turn: Turn, size: number): Promise<boolean> {
  if (turn.end !== null) return false
  if (turn.signal.aborted || machineNow() > turn.until) turn.end ??= 'turn'
  else if (!(await isWithinPace(deps, db, size))) turn.end ??= 'paced'
  return turn.end === null
}

/** Counts a whole wave ahead: a store that is at its limit sends the remaining mails in the next minute. */
const isWithinPace = async ({ limits, perMinute }: SendingDeps, db: TenantDb, size: number) =>
  (await limits.addHits([`campaign-mail:${db.tenant}`], size)) <= Math.max(perMinute, WAVE)

/**
 * The largest part of a minute's mails that one wave may be: up to that part is unused if the last wave of the minute
 * does not fit.
 */
const PACE_PART = 1 / 20

/**
 * Returns the size of the next wave: as many mails as the mail server takes in the time of a wave, by the
 * wave before, and at most twice as many.
 */
function nextSize({ perMinute }: SendingDeps, sent: number, ms: number): number {
  const most = Math.max(WAVE, Math.min(WAVE_MAX, Math.floor(perMinute * PACE_PART)))
  const next = Math.round(sent * Math.min(2, WAVE_MS / Math.max(ms, 1)))
  return Math.min(most, Math.max(WAVE, next))
}

interface Result extends mailings.Result {
  bounce: Bounce | null
}

interface Move {
  results: readonly Result[]
  /** How many to claim. */
  limit: number
  /** Whether the turn is done when no recipient is left to claim, because no more are being written down. */
  isLast: boolean
}

/**
 * Writes the results of a wave, and claims the next recipients, durably before any of their mails is sent. Consent and
 * suppression are checked again here: minutes or days may have passed since the recipients were written down. Results
 * are written also if the lease was lost: they say which mails were sent.
 */
async function moveOn(
  deps: SendingDeps,
  tx: Tx,
  turn: Turn,
  { results, limit, isLast }: Move,
): Promise<QueuedRecipient[]> {
  const { id } = turn.lease
  const [mailing, written, next] = await awaitAll([
    mailings.lockLeased(tx, turn.lease),
    results.length === 0 ? [] : mailings.recordResults(tx, id, results),
    limit === 0 ? [] : mailings.listQueued(tx, id, { after: turn.after, limit }),
  ])
  if (mailing.stopped || !mailing.is_held) turn.end ??= 'stopped'
  else if (isLast && limit > 0 && next.length === 0) turn.end ??= 'done'
  const claimed = turn.end === null ? next : []
  const { wave, withdrawn } = await divide(deps, tx, claimed)
  const counts = countChanges(written)
  if (withdrawn.length > 0) {
    counts.skipped += await mailings.skipRecipients(tx, id, {
      ids: withdrawn,
      reason: 'not_allowed',
    })
  }
  await recordBounces(deps, tx, results)
  await mailings.moveInFlight(tx, id, { claimed: idsOf(wave), finished: idsOf(results), counts })
  turn.after = claimed.at(-1)?.id ?? turn.after
  return wave
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/** Divides recipients into those who may be mailed now, and those who may no longer. */
async function divide({ mayBeMailed }: SendingDeps, tx: Tx, people: readonly QueuedRecipient[]) {
  if (people.length === 0) return { wave: [], withdrawn: [] }
  const allowed = await mayBeMailed(
    tx,
    people.map(({ email }) => email),
  )
  return {
    wave: people.filter(({ email }) => allowed.has(email)),
    withdrawn: idsOf(people.filter(({ email }) => !allowed.has(email))),
  }
}

function countChanges(written: readonly mailings.Change[]) {
  const counts = { sent: 0, skipped: 0, failed: 0, unknown: 0 }
  for (const { was, state } of written) {
    if (was !== 'queued') counts[was] -= 1
    if (state !== 'queued') counts[state] += 1
  }
  return counts
}

/** Records bounces in the order of their addresses, so that two workers do not deadlock. */
async function recordBounces(deps: SendingDeps, tx: Tx, results: readonly Result[]): Promise<void> {
  const bounces = results.map(({ bounce }) => bounce).filter((each) => each !== null)
  for (const bounce of bounces.toSorted((a, b) => (a.email < b.email ? -1 : 1))) {
    await deps.recordBounce(tx, bounce)
  }
}

async function sendWave(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  wave: readonly QueuedRecipient[],
): Promise<Result[]> {
  turn.tried += wave.length
  const claimedAt = machineNow()
  const results = await Promise.all(
    wave.map(async (recipient) => {
      const outcome = await attempt(deps, db, turn, { ...recipient, claimedAt })
      if (outcome.state === 'unavailable') holdBack(turn)
      return resultOf(recipient, outcome, holdOf(turn))
    }),
  )
  await deps.onAnswered?.()
  return results
}

/** How mails that wait for a connection are queued again, because no more mails are begun. */
interface Hold {
  reason: 'unavailable' | null
  wait_seconds: number
}

const UNAVAILABLE: Hold = { reason: 'unavailable', wait_seconds: UNAVAILABLE_SECONDS }
const STOPPING: Hold = { reason: null, wait_seconds: 0 }

/** Returns how waiting mails are queued again; null while mails are begun. */
const holdOf = ({ signal, isHeldBack }: Turn): Hold | null => {
  if (signal.aborted) return STOPPING
  return isHeldBack ? UNAVAILABLE : null
}

function holdBack(turn: Turn): void {
  turn.isHeldBack = true
  turn.end ??= 'unavailable'
}

type ClaimedRecipient = QueuedRecipient & { claimedAt: number }

/**
 * Sends one mail. A mail that cannot be written counts as refused by the mail server, and does not stop the
 * others.
 */
async function attempt(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  recipient: ClaimedRecipient,
): Promise<Outcome> {
  const envelope = { from: addressOf(deps.from), to: recipient.email }
  try {
    return await deps.transport.deliver(envelope, () => writeFor(deps, db, turn, recipient))
  } catch (error) {
    const message = error instanceof Error ? error.message : 'not an Error'
    return { state: 'refused', error: message, isOfReader: false }
  }
}

/**
 * Writes a mail once a connection is free for it. Returns null if it is not sent now, or its reader has unsubscribed
 * meanwhile.
 */
function writeFor(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  recipient: ClaimedRecipient,
): Promise<string | null> | string | null {
  if (!isAddress(recipient.email)) throw new InvalidMailError('recipient')
  if (holdOf(turn) !== null) return null
  const isOld = machineNow() - recipient.claimedAt > CONSENT_MS
  return isOld ? writeIfAllowed(deps, db, turn, recipient) : writeNow(deps, db, turn, recipient)
}

async function writeIfAllowed(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  recipient: ClaimedRecipient,
): Promise<string | null> {
  const isAllowed = await mayStillBeMailed(deps, db, turn, recipient.email)
  return isAllowed ? writeNow(deps, db, turn, recipient) : null
}

function writeNow(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  { id, email }: QueuedRecipient,
): Promise<string> | string {
  const { url, headers } = deps.unsubscribeOf(db, email)
  const messageId = `${id}@${domainOf(deps.from)}`
  const message = turn.write({ to: email, messageId, date: new Date(machineNow()), url, headers })
  return turn.sign === null ? message : turn.sign(message)
}

async function mayStillBeMailed(
  { mayBeMailed }: SendingDeps,
  db: TenantDb,
  turn: Turn,
  email: string,
): Promise<boolean> {
  try {
    return (await mayBeMailed(db, [email])).has(email)
  } catch {
    // The consent could not be read: no mail is sent then, and nothing is recorded about the reader.
    holdBack(turn)
    return false
  }
}

/** Makes the result to write from the outcome of a mail. Only a mail that was certainly not sent is sent again. */
function resultOf(
  { id, email, attempt_count }: QueuedRecipient,
  outcome: Outcome,
  hold: Hold | null,
): Result {
  const none = { id, reason: null, error: null, wait_seconds: null, is_attempt: true, bounce: null }
  if (outcome.state === 'sent') return { ...none, state: 'sent' }
  if (outcome.state === 'withheld') {
    const unsent = { ...none, is_attempt: false }
    // The next claim checks again whether the reader has unsubscribed.
    if (hold !== null) return { ...unsent, ...hold, state: 'queued' }
    return { ...unsent, state: 'skipped', reason: 'not_allowed' }
  }
  const error = describeReply(outcome.error, [email])
  if (outcome.state === 'unknown') return { ...none, state: 'unknown', reason: 'no_reply', error }
  if (outcome.state === 'unavailable') {
    return { ...none, ...UNAVAILABLE, state: 'queued', error, is_attempt: false }
  }
  const wait_seconds = RETRY_SECONDS[attempt_count]
  if (outcome.state === 'deferred' && wait_seconds !== undefined) {
    return { ...none, state: 'queued', reason: 'deferred', error, wait_seconds }
  }
  const kind = outcome.isOfReader ? bounceOf(outcome.error) : null
  const bounce =
    kind === null
      ? null
      : { event_id: `${id}.${attempt_count}`, kind, email, detail: outcome.error }
  return { ...none, state: 'failed', reason: 'refused', error, bounce }
}
