import type { TenantDb } from '../../db/database.ts'
import type { Actor } from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import type { MailDeps } from './deps.ts'
import { refuse } from './errors.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import { requireCleanText } from './scan.ts'
import { type Campaign, EMAIL } from './schema.ts'
import {
  auditCampaign,
  get,
  refuseStatus,
  requireDraft,
  WAKE_CAMPAIGN_MAIL,
  withCampaign,
} from './service.ts'

/** How many recipients one call queues: as many as one statement writes within a second. */
const RESENT_MAX = 5_000

/**
 * Queues the mails again that may or may not have been sent. Only a merchant can decide that: some readers may get the
 * mail twice, and without it some get none. A reader who has unsubscribed meanwhile gets none.
 */
export async function resendUnknown(
  deps: MailDeps,
  db: TenantDb,
  { actor, claim }: { actor: Actor; claim: idempotency.WonClaim },
  id: string,
): Promise<idempotency.StoredAnswer> {
  const found = await get(db, id)
  if (found.channel !== EMAIL) throw refuse('not_a_mail_campaign')
  if (found.mailing === null) throw refuseStatus(found)
  await requireCleanText(deps.scanner, db.tenant, requireDraft(found))
  return withCampaign(db, 'campaigns: resend unknown', id, async (tx, before) => {
    requireSending(before, tx.clock.now())
    const resent = await mailings.requeueUnknown(tx, id, RESENT_MAX)
    if (resent > 0 && before.status !== 'paused') {
      await mailings.startMailing(tx, id)
      const { starts_at, ends_at } = before
      await queries.setStatus(tx, id, { status: 'active', starts_at, ends_at })
      tx.notifyAfterCommit(WAKE_CAMPAIGN_MAIL)
    }
    const campaign = await get(tx, id)
    if (resent > 0) await auditCampaign(tx, actor, 'resent', { before, after: campaign, resent })
    return idempotency.finish(tx, claim, 200, JSON.stringify({ campaign, resent }))
  })
}

/**
 * Refuses a campaign that may not send any more: one that was cancelled, or whose time is over. One that ended with its
 * last mail can send again.
 */
function requireSending(campaign: Campaign, now: number): void {
  const { status, ends_at } = campaign
  const isOver = ends_at !== null && Date.parse(ends_at) <= now
  const isSending = status === 'active' || status === 'paused' || status === 'ended'
  if (!isSending || isOver) throw refuseStatus(campaign)
}
