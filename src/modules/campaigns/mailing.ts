import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { machineNow } from '../../kernel/clock.ts'
import { SYSTEM } from '../../platform/audit.ts'
import type { BulkTransport, Outcome } from '../../platform/bulk-smtp.ts'
import type { Lease } from '../../platform/leases.ts'
import type { Limits } from '../../platform/limits.ts'
import {
  addressOf,
  type DkimKey,
  domainOf,
  InvalidMailError,
  isAddress,
} from '../../platform/mail.ts'
import { signMessage, writeMessage } from '../../platform/mime.ts'
import * as stores from '../stores/service.ts'
import { askMerchant } from './ask-merchant.ts'
import type { MailDeps } from './deps.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import { scanMail } from './scan.ts'
import type { Campaign, QueuedRecipient } from './schema.ts'
import { auditCampaign, get, requireDraft } from './service.ts'
import { loadLook, prepareMail } from './write-mail.ts'

/**
 * Sends the mails of a campaign, in turns of some seconds so that the stores share the connections. SMTP
 * cannot say whether a mail that was handed over before a crash was sent. So recipients are claimed before
 * the mail server is called, in waves, and their results are written after it has answered; what a killed
 * worker had claimed is `unknown`, and is never sent again by itself.
 */

export interface SendingDeps extends MailDeps {
  transport: BulkTransport
  /** Signs the mails. Null: they are not signed here. */
  dkim: DkimKey | null
  /** The sender of all mails, as `Name <address>`. */
  from: string
  limits: Pick<Limits, 'addHits'>
  /** Mails of one store in a minute. */
  perMinute: number
  /** How long a mailing waits that the mail server or a limit holds back. By default a minute, and 10 s. */
  heldBackSeconds?: number
  /** For tests: what happens after the mail server has answered and before that is written. */
  onAnswered?: () => Promise<void>
}

/** Addresses of the segment that are written down by one transaction. */
const LISTED = 500

/** Mails of one wave: the most that one claim leaves unknown when its worker is killed. */
export const WAVE = 20

/** Waves at a time: one is claimed or written down while the other is sent. */
export const WAVES = 2

/** How long a mailing has its turn, before it waits for those of other stores. */
const TURN_MS = 5_000

/** The wait after each mail that was deferred, except the last. */
export const RETRY_SECONDS = [300, 1_800, 7_200] as const

/** The wait where the mail server takes no mails, and where the store has sent those of its minute. */
const UNAVAILABLE_SECONDS = 60
const PACED_SECONDS = 10

/** Why a turn ended. */
type End = 'done' | 'turn' | 'paced' | 'unavailable' | 'stopped'

/** Runs one turn of a leased mailing. Answers how many mails were tried. */
export async function runTurn(
  deps: SendingDeps,
  db: TenantDb,
  lease: Lease,
  signal: AbortSignal,
): Promise<number> {
  const campaign = await get(db, lease.id)
  await settleInterrupted(db, lease)
  // The campaigns of a suspended store wait until it is live again.
  if ((await stores.get(db)).status === 'suspended') {
    await endTurn(deps, db, lease, 'unavailable')
    return 0
  }
  const listed = await listRecipients(deps, db, { lease, campaign, signal })
  if (listed !== 'all') {
    if (listed === 'some') await endTurn(deps, db, lease, 'turn')
    return 0
  }
  const draft = requireDraft(campaign)
  if (!(await scanMail(deps.scanner, db.tenant, draft)).passed) {
    await stop(db, lease, 'claims')
    return 0
  }
  const write = prepareMail(await loadLook(deps, db), draft)
  const turn: Turn = { lease, write, after: mailings.BEFORE_ALL, tried: 0, end: null, signal }
  const until = machineNow() + TURN_MS
  const lanes = Array.from({ length: WAVES }, () => sendWaves(deps, db, turn, until))
  // All of them end before an error is thrown: none may claim more behind it.
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  await endTurn(deps, db, lease, turn.end ?? 'turn')
  return turn.tried
}

/** What an earlier worker had claimed and never wrote down: nobody knows whether it was sent. */
const settleInterrupted = (db: TenantDb, lease: Lease): Promise<void> =>
  db.transaction('campaign mail: interrupted', async (tx) => {
    const mailing = await mailings.renewLocked(tx, lease)
    if (mailing === null || mailing.in_flight.length === 0) return
    const unknown = await mailings.giveUpInFlight(tx, lease.id, mailing.in_flight)
    await mailings.countUnknown(tx, lease.id, unknown)
  })

interface Listing {
  lease: Lease
  campaign: Campaign
  signal: AbortSignal
}

/** Writes recipients down, each once: all of them, some of them, or none where the segment is gone. */
async function listRecipients(
  deps: SendingDeps,
  db: TenantDb,
  listing: Listing,
): Promise<'all' | 'some' | 'none'> {
  const until = machineNow() + TURN_MS
  try {
    for (;;) {
      const state = await db.transaction('campaign mail: recipients', (tx) =>
        listSome(deps, tx, listing),
      )
      if (state !== 'listing') return state === 'sending' ? 'all' : 'some'
      if (listing.signal.aborted || machineNow() > until) return 'some'
    }
  } catch (error) {
    // Only the segment refuses anything here: it was deleted, or cannot be read.
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    await stop(db, listing.lease, 'segment')
    return 'none'
  }
}

/** The checkpoint moves in the transaction that writes the rows: a crash loses both or none. */
async function listSome(deps: SendingDeps, tx: Tx, { lease, campaign }: Listing) {
  const mailing = await mailings.renewLocked(tx, lease)
  if (mailing === null) return 'stopped'
  if (mailing.state !== 'listing') return mailing.state
  if (campaign.segment_id === null) throw new ApiError('invalid_body')
  const page = await deps.members(tx, campaign.segment_id, mailing.listed_to, LISTED)
  const allowed = await deps.mayBeMailed(
    tx,
    page.map(({ email }) => email),
  )
  const people = page.filter(({ email }) => allowed.has(email))
  const recipients = people.length === 0 ? 0 : await mailings.insertRecipients(tx, lease.id, people)
  const isLast = page.length < LISTED
  await mailings.moveCheckpoint(tx, lease.id, {
    listed_to: page.at(-1)?.email_folded ?? mailing.listed_to,
    recipients,
    left_out: page.length - people.length,
    isLast,
  })
  return isLast ? 'sending' : 'listing'
}

interface Turn {
  lease: Lease
  write: ReturnType<typeof prepareMail>
  /** The last recipient that was claimed. Those before it were, or wait for a later attempt. */
  after: string
  tried: number
  /** Null: it goes on. */
  end: End | null
  signal: AbortSignal
}

async function sendWaves(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  until: number,
): Promise<void> {
  try {
    while (turn.end === null) {
      if (turn.signal.aborted || machineNow() > until) turn.end ??= 'turn'
      else if (!(await isWithinPace(deps, db))) turn.end ??= 'paced'
      else await sendWave(deps, db, turn)
    }
  } catch (error) {
    turn.end ??= 'turn'
    throw error
  }
}

/** Counts a whole wave ahead: a store that is at its limit sends the rest in the next minute. */
const isWithinPace = async ({ limits, perMinute }: SendingDeps, { tenant }: TenantDb) =>
  (await limits.addHits([`campaign-mail:${tenant}`], WAVE)) <= Math.max(perMinute, WAVE)

async function sendWave(deps: SendingDeps, db: TenantDb, turn: Turn): Promise<void> {
  const wave = await db.transaction('campaign mail: claim', (tx) => claimWave(deps, tx, turn))
  if (wave === null || wave.length === 0) return
  turn.tried += wave.length
  const results = await Promise.all(
    wave.map(async (recipient) =>
      resultOf(recipient, await attempt(deps, db, turn.write, recipient)),
    ),
  )
  await deps.onAnswered?.()
  if (results.some(({ reason }) => reason === UNAVAILABLE)) turn.end ??= 'unavailable'
  await recordWave(db, turn.lease.id, results)
}

/**
 * Claims the next recipients, durably before any mail is sent. Consent and suppression are asked again
 * here: minutes or days may have passed since the recipients were written down.
 */
async function claimWave(deps: SendingDeps, tx: Tx, turn: Turn): Promise<QueuedRecipient[] | null> {
  const { lease } = turn
  const mailing = await mailings.renewLocked(tx, lease)
  if (mailing === null) {
    turn.end ??= 'stopped'
    return null
  }
  const next = await mailings.listQueued(tx, lease.id, {
    after: turn.after,
    except: mailing.in_flight,
    limit: WAVE,
  })
  const last = next.at(-1)
  if (last === undefined) {
    turn.end ??= 'done'
    return null
  }
  const allowed = await deps.mayBeMailed(
    tx,
    next.map(({ email }) => email),
  )
  const wave = next.filter(({ email }) => allowed.has(email))
  const idsOf = (people: readonly QueuedRecipient[]) => people.map(({ id }) => id)
  const withdrawn = idsOf(next.filter(({ email }) => !allowed.has(email)))
  const skipped =
    withdrawn.length === 0 ? 0 : await mailings.skipRecipients(tx, withdrawn, 'not_allowed')
  await mailings.claim(tx, lease.id, { ids: idsOf(wave), skipped })
  turn.after = last.id
  return wave
}

/** A mail that cannot be written is refused as by the mail server, and does not stop the others. */
async function attempt(
  deps: SendingDeps,
  db: TenantDb,
  write: Turn['write'],
  recipient: QueuedRecipient,
): Promise<Outcome> {
  const from = addressOf(deps.from)
  let message: string
  try {
    message = await writeFor(deps, db, write, recipient)
  } catch (error) {
    return { state: 'refused', error: error instanceof Error ? error.message : 'not an Error' }
  }
  return deps.transport.deliver({ from, to: recipient.email }, message)
}

async function writeFor(
  deps: SendingDeps,
  db: TenantDb,
  write: Turn['write'],
  { id, email }: QueuedRecipient,
): Promise<string> {
  if (!isAddress(email)) throw new InvalidMailError('recipient')
  const { fromName, ...mail } = write(deps.unsubscribeOf(db, email))
  const message = writeMessage({
    ...mail,
    from: { name: fromName, address: addressOf(deps.from) },
    to: email,
    messageId: `${id}@${domainOf(deps.from)}`,
    date: new Date(machineNow()),
  })
  return deps.dkim === null ? message : signMessage(deps.dkim, message)
}

const UNAVAILABLE = 'unavailable'

/** What is written down of an answer. Nothing is sent again of which it is not known that it was not sent. */
function resultOf(
  { id, email, attempt_count }: QueuedRecipient,
  outcome: Outcome,
): mailings.Result {
  const none = { id, reason: null, error: null, wait_seconds: null, is_attempt: true }
  if (outcome.state === 'sent') return { ...none, state: 'sent' }
  const error = describe(outcome.error, email)
  if (outcome.state === 'unknown') return { ...none, state: 'unknown', reason: 'no_reply', error }
  if (outcome.state === 'unavailable') {
    const wait_seconds = UNAVAILABLE_SECONDS
    return { ...none, state: 'queued', reason: UNAVAILABLE, error, wait_seconds, is_attempt: false }
  }
  const wait_seconds = RETRY_SECONDS[attempt_count]
  if (outcome.state === 'refused' || wait_seconds === undefined) {
    return { ...none, state: 'failed', reason: 'refused', error }
  }
  return { ...none, state: 'queued', reason: 'deferred', error, wait_seconds }
}

/** The error as text, fit for its column, without the address that mail servers repeat. */
const describe = (error: string, email: string): string =>
  [
    ...error
      .replaceAll(email, '[address]')
      .toWellFormed()
      .replace(/\p{Cc}+/gu, ' '),
  ]
    .slice(0, 500)
    .join('')

const recordWave = (db: TenantDb, id: string, results: readonly mailings.Result[]) =>
  db.transaction('campaign mail: results', async (tx) => {
    await mailings.lockMailing(tx, id)
    const written = await mailings.recordResults(tx, id, results)
    const counts = { sent: 0, skipped: 0, failed: 0, unknown: 0 }
    for (const { was, state } of written) {
      if (was !== 'queued') counts[was] -= 1
      if (state !== 'queued') counts[state] += 1
    }
    await mailings.finishClaimed(
      tx,
      id,
      results.map((each) => each.id),
      counts,
    )
  })

function waitOf({ heldBackSeconds }: SendingDeps, end: Exclude<End, 'done'>): number {
  if (end === 'paced') return heldBackSeconds ?? PACED_SECONDS
  return end === 'unavailable' ? (heldBackSeconds ?? UNAVAILABLE_SECONDS) : 0
}

/** Ends a turn: the mailing is done, waits for its next recipient, or for its next turn. */
const endTurn = (deps: SendingDeps, db: TenantDb, lease: Lease, end: End): Promise<void> =>
  db.transaction('campaign mail: end turn', async (tx) => {
    if (end !== 'done') return mailings.finishTurn(tx, lease, null, waitOf(deps, end))
    const campaign = await queries.lock(tx, lease.id)
    const { at } = await mailings.findNextDue(tx, lease.id)
    if (at !== null) return mailings.finishTurn(tx, lease, at, 0)
    await mailings.finishMailing(tx, lease)
    if (campaign?.status !== 'active' || !isOnlyMail(campaign)) return
    const { starts_at, ends_at } = campaign
    const after = await queries.setStatus(tx, lease.id, { status: 'ended', starts_at, ends_at })
    await auditCampaign(tx, SYSTEM, 'ended', { before: campaign, after })
  })

/** A campaign without an end and without coupons is over with its last mail. */
const isOnlyMail = ({ ends_at, coupon_count }: Campaign): boolean =>
  ends_at === null && coupon_count === 0

/** Stops a mailing that must not go on by itself, and asks the merchant. */
const stop = (db: TenantDb, lease: Lease, reason: 'claims' | 'segment'): Promise<void> =>
  db.transaction('campaign mail: stop', async (tx) => {
    const campaign = await queries.lock(tx, lease.id)
    if (campaign?.status === 'active') await askMerchant(tx, campaign, reason)
    await mailings.finishTurn(tx, lease, null, 0)
  })
