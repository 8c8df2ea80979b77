import type { Tx } from '../../db/database.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import { campaignPaused } from './events.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import type { Campaign, PauseReason } from './schema.ts'
import { auditCampaign } from './service.ts'

/** Why a campaign waits for its merchant, in the words of the mail. */
const TEXTS: Record<Exclude<PauseReason, 'merchant'>, string> = {
  late: 'It should have started more than an hour ago, and could not. Look whether it still says what you want.',
  claims: 'Its text makes a prohibited health claim. Change the text.',
  segment: 'Its segment no longer exists, or cannot be read. Create another campaign.',
}

/** Pauses a campaign that must not go on by itself, and mails the merchant, who decides whether it goes on. */
export async function askMerchant(
  tx: Tx,
  before: Campaign,
  reason: keyof typeof TEXTS,
): Promise<Campaign> {
  const { id, name, starts_at, ends_at } = before
  await mailings.stopMailing(tx, id)
  const change = { status: 'paused', pause_reason: reason, starts_at, ends_at } as const
  const after = await queries.setStatus(tx, id, change)
  await auditCampaign(tx, SYSTEM, 'paused', { before, after })
  const campaign = { id, name, channel: after.channel, status: after.status, starts_at, ends_at }
  await campaignPaused.emit(tx, { campaign, reason })
  const { owner_email } = await stores.get(tx)
  if (owner_email === null) return after
  const shown = mail.oneLine(name).toWellFormed()
  await mail.send(tx, {
    to: owner_email,
    subject: `Your campaign ${shown} is paused`,
    text: `The campaign "${shown}" was paused and sends nothing.\n\n${TEXTS[reason]}\n\nThen resume it, or cancel it.\n`,
    tenant_ref: tx.tenant,
  })
  return after
}
