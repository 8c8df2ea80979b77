import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, invalidBodyOf } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import { type Limits, requireWithin } from '../../platform/rate-limits.ts'
import * as stores from '../stores/service.ts'
import { requireOpen } from './budget.ts'
import type { MailDeps } from './deps.ts'
import { refuse } from './errors.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import { requireCleanText } from './scan.ts'
import {
  type Campaign,
  type CampaignPatch,
  type CampaignStatus,
  EMAIL,
  type NewCampaign,
  type RecipientState,
  type Schedule,
} from './schema.ts'
import { checkTerms, NO_TERMS, readStart } from './terms.ts'
import { type Draft, loadLook, writeParts } from './write-mail.ts'

/** Wakes the loop that sends: a campaign has started. */
export const WAKE_CAMPAIGN_MAIL = 'campaign mail'

/**
 * A campaign that is later than this does not start by itself: its text may be outdated, so the merchant is asked
 * first.
 */
export const LATE_MS = HOUR_MS

/** Test mails of one store in a minute. */
const TESTS_PER_MINUTE = 10

export function create(
  deps: MailDeps,
  db: TenantDb,
  actor: audit.Actor,
  request: NewCampaign,
): Promise<Campaign> {
  const { channel } = request
  const terms = checkTerms({ ...NO_TERMS, channel, name: request.name }, request)
  return db.transaction('campaigns: create', async (tx) => {
    if (terms.segment_id !== null) await deps.requireSegment(tx, terms.segment_id)
    const campaign = await queries.insert(tx, { ...terms, channel })
    await auditCampaign(tx, actor, 'created', { after: campaign })
    return campaign
  })
}

export function change(
  deps: MailDeps,
  db: TenantDb,
  actor: audit.Actor,
  { id, patch }: { id: string; patch: CampaignPatch },
): Promise<Campaign> {
  return withCampaign(db, 'campaigns: change', id, async (tx, before) => {
    requireOpen(before)
    requireChangeable(before, patch)
    const terms = checkTerms(before, patch)
    const { segment_id } = terms
    if (segment_id !== null && segment_id !== before.segment_id) {
      await deps.requireSegment(tx, segment_id)
    }
    const after = await queries.update(tx, before, terms)
    await auditCampaign(tx, actor, 'changed', { before, after })
    return after
  })
}

/** The members that a mail campaign needs. */
const NEEDED = ['segment_id', 'subject', 'body_markdown'] as const

/** Refuses to change a member that is fixed once the campaign has begun, or to remove one that it needs to begin. */
function requireChangeable(campaign: Campaign, patch: CampaignPatch): void {
  const { status, mailing } = campaign
  const isRunning = status === 'active' || status === 'paused'
  const fixed = [
    ...(isRunning ? (['starts_at', 'send_at'] as const) : []),
    ...(status === 'active'
      ? (['subject', 'body_markdown', 'sender_name', 'reply_to'] as const)
      : []),
    ...(mailing !== null || status === 'active' ? (['segment_id'] as const) : []),
  ]
  const removed =
    status === 'scheduled'
      ? NEEDED.filter((name) => patch[name] === null && campaign[name] !== null)
      : []
  const issues = [
    ...fixed
      .filter((name) => patch[name] !== undefined)
      .map((path) => ({ path, message: `cannot change while the campaign is ${status}` })),
    ...removed.map((path) => ({ path, message: 'must stay set while the campaign is scheduled' })),
  ]
  if (issues.length > 0) throw invalidBodyOf(issues)
}

/** Deletes a draft without coupons. */
export function remove(db: TenantDb, actor: audit.Actor, id: string): Promise<Campaign> {
  return withCampaign(db, 'campaigns: delete', id, async (tx, before) => {
    const allowed = before.coupon_count === 0 ? [] : ['cancel']
    if (before.status !== 'draft' || before.coupon_count > 0) throw refuseStatus(before, allowed)
    await queries.remove(tx, id)
    await auditCampaign(tx, actor, 'deleted', { before, after: before })
    return before
  })
}

/**
 * Starts a campaign at its time, or now if none is set. A second call sets another time. Its text is scanned first,
 * outside of the transaction.
 */
export async function schedule(
  deps: MailDeps,
  db: TenantDb,
  actor: audit.Actor,
  { id, request }: { id: string; request: Schedule },
): Promise<Campaign> {
  await requireSendable(deps, db, await get(db, id))
  return withCampaign(db, 'campaigns: schedule', id, async (tx, before) => {
    if (before.status !== 'draft' && before.status !== 'scheduled') throw refuseStatus(before)
    requireComplete(before)
    const now = tx.clock.now()
    const { starts_at, ends_at } = readStart(before, request, { now, lateMs: LATE_MS })
    const isNow = Date.parse(starts_at) <= now
    const change = { status: isNow ? 'active' : 'scheduled', starts_at, ends_at } as const
    const after = isNow ? await start(tx, before, change) : await queries.setStatus(tx, id, change)
    await auditCampaign(tx, actor, 'scheduled', { before, after })
    return after
  })
}

/**
 * Makes a campaign active, and has its mails sent. A campaign that was paused while its last mail was sent is
 * over.
 */
export async function start(
  tx: Tx,
  campaign: Campaign,
  { starts_at, ends_at }: Pick<Campaign, 'starts_at' | 'ends_at'>,
): Promise<Campaign> {
  const { id, channel } = campaign
  let isOver = false
  if (channel === EMAIL) {
    const { state } = await mailings.startMailing(tx, id)
    isOver = state === 'done' && isOnlyMail({ ...campaign, ends_at })
    tx.notifyAfterCommit(WAKE_CAMPAIGN_MAIL)
  }
  return queries.setStatus(tx, id, { status: isOver ? 'ended' : 'active', starts_at, ends_at })
}

/** A campaign without an end and without coupons is over with its last mail. */
export const isOnlyMail = ({ ends_at, coupon_count }: Campaign): boolean =>
  ends_at === null && coupon_count === 0

/** Pauses a campaign. A repeated call is harmless. Mails that are being sent are finished; no more are begun. */
export function pause(db: TenantDb, actor: audit.Actor, id: string): Promise<Campaign> {
  return withCampaign(db, 'campaigns: pause', id, async (tx, before) => {
    if (before.status === 'paused') return before
    if (before.status !== 'active' && before.status !== 'scheduled') throw refuseStatus(before)
    await mailings.stopMailing(tx, id)
    const change = { ...timesOf(before), status: 'paused', pause_reason: 'merchant' } as const
    const after = await queries.setStatus(tx, id, change)
    await auditCampaign(tx, actor, 'paused', { before, after })
    return after
  })
}

/** Resumes a paused campaign: at its start time if that is still to come, else now. */
export async function resume(
  deps: MailDeps,
  db: TenantDb,
  actor: audit.Actor,
  id: string,
): Promise<Campaign> {
  const found = await get(db, id)
  if (found.status === 'paused') await requireSendable(deps, db, found)
  return withCampaign(db, 'campaigns: resume', id, async (tx, before) => {
    if (before.status === 'active') return before
    if (before.status !== 'paused') throw refuseStatus(before)
    requireComplete(before)
    const isToCome = before.starts_at !== null && Date.parse(before.starts_at) > tx.clock.now()
    const after = isToCome
      ? await queries.setStatus(tx, id, { ...timesOf(before), status: 'scheduled' })
      : await start(tx, before, before)
    await auditCampaign(tx, actor, 'resumed', { before, after })
    return after
  })
}

/** Ends a campaign for good: its coupons stop, and mails that are not sent yet never are. */
export function cancel(db: TenantDb, actor: audit.Actor, id: string): Promise<Campaign> {
  return withCampaign(db, 'campaigns: cancel', id, async (tx, before) => {
    if (before.status === 'cancelled') return before
    requireOpen(before)
    await mailings.stopMailing(tx, id)
    const change = { ...timesOf(before), status: 'cancelled' } as const
    const after = await queries.setStatus(tx, id, change)
    await auditCampaign(tx, actor, 'cancelled', { before, after })
    return after
  })
}

const timesOf = ({ starts_at, ends_at }: Campaign) => ({ starts_at, ends_at })

/** Refuses a mail campaign with a missing member, or whose text makes a prohibited claim. */
async function requireSendable(deps: MailDeps, db: Db, campaign: Campaign): Promise<void> {
  const complete = requireComplete(campaign)
  if (complete === null) return
  await deps.requireSegment(db, complete.segment_id)
  await requireCleanText(deps.scanner, db.tenant, complete)
}

/**
 * Refuses a mail campaign with a missing member; null for a campaign that sends no mails. Called again under the lock
 * that schedules it, since a request may have removed a member while its text was scanned.
 */
function requireComplete(campaign: Campaign): (Draft & { segment_id: string }) | null {
  const { channel, segment_id } = campaign
  if (channel !== EMAIL) return null
  const draft = requireDraft(campaign)
  if (segment_id === null) throw invalidBody('segment_id', 'must be set before it is sent')
  return { ...draft, segment_id }
}

/** The text of a mail campaign, which must be complete. */
export function requireDraft(campaign: Campaign): Draft {
  const { subject, body_markdown } = campaign
  const missing = Object.entries({ subject, body_markdown })
    .filter(([, value]) => value === null)
    .map(([path]) => ({ path, message: 'must be set before it is sent' }))
  if (subject === null || body_markdown === null) {
    throw invalidBodyOf(missing)
  }
  return { ...campaign, subject, body_markdown }
}

/** Mails the campaign to the owner of the store, marked as a test. A test cannot be sent to any other person. */
export async function sendTest(
  deps: MailDeps & { limits: Pick<Limits, 'velocity'> },
  db: TenantDb,
  actor: audit.Actor,
  id: string,
): Promise<{ email: string }> {
  const campaign = await get(db, id)
  await requireWithin(deps.limits, `campaign-tests:${db.tenant}`, TESTS_PER_MINUTE)
  if (campaign.channel !== EMAIL) throw refuse('not_a_mail_campaign')
  const draft = requireDraft(campaign)
  await requireCleanText(deps.scanner, db.tenant, draft)
  const { owner_email: email } = await stores.get(db)
  if (email === null) throw refuse('no_owner_address')
  const look = await loadLook(deps, db)
  // Without a link that works: a test must not unsubscribe a reader.
  const parts = writeParts(look, draft, look.storefrontUrl ?? '#')
  await db.transaction('campaigns: test', async (tx) => {
    const subject = `[Test] ${draft.subject}`.slice(0, SUBJECT_LENGTH_MAX).toWellFormed()
    await mail.send(tx, { to: email, subject, ...parts, tenant_ref: db.tenant })
    await auditCampaign(tx, actor, 'tested', { after: campaign })
  })
  return { email }
}

const SUBJECT_LENGTH_MAX = 200

export async function get(db: Db, id: string): Promise<Campaign> {
  const campaign = isUuid(id) ? await queries.find(db, id) : null
  if (campaign === null) throw new ApiError('campaign_not_found')
  return campaign
}

export async function list(db: Db, filters: queries.CampaignFilters, page: Page) {
  const { rows, shown } = await queries.list(db, filters, page)
  return { campaigns: rows, ...shown }
}

export async function listRecipients(
  db: Db,
  { id, state }: { id: string; state: RecipientState | undefined },
  page: Page,
) {
  const { id: campaign_id } = await get(db, id)
  const { rows, shown } = await mailings.listRecipients(db, { campaign_id, state }, page)
  return { recipients: rows, ...shown }
}

export function withCampaign<T>(
  db: TenantDb,
  name: string,
  id: string,
  work: (tx: Tx, before: Campaign) => Promise<T>,
): Promise<T> {
  return db.transaction(name, async (tx) => {
    const before = isUuid(id) ? await queries.lock(tx, id) : null
    if (before === null) throw new ApiError('campaign_not_found')
    return work(tx, before)
  })
}

/** The verbs that each status allows. */
const VERBS: Record<CampaignStatus, readonly string[]> = {
  draft: ['schedule', 'cancel'],
  scheduled: ['schedule', 'pause', 'cancel'],
  active: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  ended: [],
  cancelled: [],
}

export const refuseStatus = ({ status }: Campaign, allowed: readonly string[] = VERBS[status]) =>
  new ApiError('invalid_transition', { body: { current_status: status, allowed } })

/**
 * The members of a campaign that the audit log stores. It says what happened; the texts of a mail are in the campaign
 * itself.
 */
const logged = ({ name, status, pause_reason, starts_at, ends_at, budget }: Campaign) => ({
  name,
  status,
  pause_reason,
  starts_at,
  ends_at,
  budget,
})

export const auditCampaign = (
  tx: Tx,
  actor: audit.Actor,
  verb: string,
  { before, after, ...more }: { before?: Campaign; after: Campaign; resent?: number },
) =>
  audit.record(tx, actor, {
    action: `campaign.${verb}`,
    entity: `campaign:${after.id}`,
    ...(before !== undefined && { before: logged(before) }),
    after: { ...logged(after), ...more },
  })
