import { awaitAll } from '../../db/await-all.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { machineNow } from '../../kernel/clock.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { openSigner } from '../../platform/dkim.ts'
import type { Lease } from '../../platform/leases.ts'
import { addressOf } from '../../platform/mail.ts'
import { prepareMessage } from '../../platform/mime.ts'
import * as stores from '../stores/service.ts'
import { askMerchant } from './ask-merchant.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import { scanMail } from './scan.ts'
import type { Campaign } from './schema.ts'
import {
  type End,
  type SendingDeps,
  sendWaves,
  type Turn,
  UNAVAILABLE_SECONDS,
} from './send-waves.ts'
import { auditCampaign, get, isOnlyMail, requireDraft } from './service.ts'
import { loadLook, writeCommon } from './write-mail.ts'

/**
 * Works on the mails of a campaign in turns of some seconds, so that the stores share the connections: writes its
 * recipients down, and sends their mails (`send-waves.ts`). A mail that a killed worker had claimed is `unknown`, and
 * is never sent again automatically.
 */

/** Addresses of the segment that are written down by one transaction. */
const LISTED = 500

/** How long a turn of a mailing lasts, before the mailings of other stores get theirs. */
const TURN_MS = 5_000

/** The wait if the store has sent as many mails as it may in a minute. */
const PACED_SECONDS = 10

/** Runs one turn of a leased mailing. Returns how many mails were tried. */
export async function runTurn(
  deps: SendingDeps,
  db: TenantDb,
  lease: Lease,
  signal: AbortSignal,
): Promise<number> {
  const campaign = await get(db, lease.id)
  if ((await settleInterrupted(db, lease)) === 'stopped') {
    await endTurn(deps, db, lease, 'stopped')
    return 0
  }
  // The campaigns of a suspended store wait until it is live again.
  if ((await stores.get(db)).status === 'suspended') {
    await endTurn(deps, db, lease, 'unavailable')
    return 0
  }
  const draft = requireDraft(campaign)
  if (!(await scanMail(deps.scanner, db.tenant, draft)).passed) {
    await stop(db, lease, 'claims')
    return 0
  }
  const { fromName, ...common } = writeCommon(await loadLook(deps, db), draft)
  const from = { name: fromName, address: addressOf(deps.from) }
  const turn: Turn = {
    lease,
    write: prepareMessage({ ...common, from }),
    sign: deps.dkim === null ? null : openSigner(deps.dkim),
    page: null,
    after: mailings.BEFORE_ALL,
    tried: 0,
    end: null,
    isHeldBack: false,
    until: machineNow() + TURN_MS,
    signal,
  }
  if (await listAndSend(deps, db, turn, campaign)) {
    await endTurn(deps, db, lease, turn.end ?? 'turn')
  } else await stop(db, lease, 'segment')
  return turn.tried
}

/**
 * Sends to the recipients that are written down, while the others are being written down. Returns whether the
 * segment could be read. Both end before an error is thrown.
 */
async function listAndSend(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  campaign: Campaign,
): Promise<boolean> {
  const listing = listRecipients(deps, db, turn, campaign)
  const sending = async () => {
    await turn.page
    await sendWaves(deps, db, turn)
  }
  const [isRead] = await awaitAll([listing, sending()])
  return isRead
}

/**
 * Marks the mails that an earlier worker had claimed and whose results it never wrote: whether they were sent
 * is not known.
 */
const settleInterrupted = (db: TenantDb, lease: Lease): Promise<'stopped' | 'running'> =>
  db.transaction('campaign mail: interrupted', async (tx) => {
    const mailing = await mailings.lockLeased(tx, lease)
    if (!mailing.is_held) return 'stopped'
    if (mailing.in_flight.length > 0) {
      const unknown = await mailings.giveUpInFlight(tx, lease.id, mailing.in_flight)
      await mailings.countUnknown(tx, lease.id, unknown)
    }
    return mailing.stopped ? 'stopped' : 'running'
  })

/** Writes recipients down, each once, until all are or the turn ends. Returns whether the segment could be read. */
async function listRecipients(
  deps: SendingDeps,
  db: TenantDb,
  turn: Turn,
  campaign: Campaign,
): Promise<boolean> {
  try {
    for (;;) {
      const page = db.transaction('campaign mail: recipients', (tx) =>
        listSome(deps, tx, turn.lease, campaign),
      )
      turn.page = page.then(ignore, ignore)
      if ((await page) !== 'listing') return true
      // The other recipients are written down at once, even if the mails are held back.
      if (turn.signal.aborted || machineNow() > turn.until) turn.end = 'turn'
      if (turn.end === 'turn' || turn.end === 'stopped') return true
    }
  } catch (error) {
    turn.end ??= 'turn'
    if (error instanceof ListingStopped) return true
    // Only the segment causes a refusal here: it was deleted, or cannot be read.
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return false
  } finally {
    turn.page = null
  }
}

const ignore = () => {}

/** Thrown if the mailing was stopped, or another worker has it: the rows written meanwhile are rolled back. */
class ListingStopped extends Error {}

/**
 * Writes one page of recipients down. The position moves in the transaction that writes the rows: a crash
 * loses both or none. The mailing is locked last: rows of recipients lock their campaign, and a pause locks
 * that before the mailing.
 */
async function listSome(deps: SendingDeps, tx: Tx, lease: Lease, campaign: Campaign) {
  const { state, listed_to } = await mailings.findListed(tx, lease.id)
  if (state !== 'listing') return state
  if (campaign.segment_id === null) throw new ApiError('segment_not_found')
  const page = await deps.members(tx, campaign.segment_id, listed_to, LISTED)
  const allowed = await deps.mayBeMailed(
    tx,
    page.map(({ email }) => email),
  )
  const people = page.filter(({ email }) => allowed.has(email))
  const recipients = people.length === 0 ? 0 : await mailings.insertRecipients(tx, lease.id, people)
  const mailing = await mailings.lockLeased(tx, lease)
  if (mailing.stopped || !mailing.is_held || mailing.listed_to !== listed_to) {
    throw new ListingStopped()
  }
  const isLast = page.length < LISTED
  await mailings.moveCheckpoint(tx, lease.id, {
    listed_to: page.at(-1)?.email_folded ?? listed_to,
    recipients,
    left_out: page.length - people.length,
    isLast,
  })
  return isLast ? 'sending' : 'listing'
}

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

/** Stops a mailing that needs a decision of the merchant, and asks for it. */
const stop = (db: TenantDb, lease: Lease, reason: 'claims' | 'segment'): Promise<void> =>
  db.transaction('campaign mail: stop', async (tx) => {
    const campaign = await queries.lock(tx, lease.id)
    if (campaign?.status === 'active') await askMerchant(tx, campaign, reason)
    await mailings.finishTurn(tx, lease, null, 0)
  })
