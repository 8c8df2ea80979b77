import type { MailDeps } from './modules/campaigns/deps.ts'
import type { SendingDeps } from './modules/campaigns/send-waves.ts'
import { hasNotLeft, mayBeMailed, unsubscribeHeaders } from './modules/marketing/consent.ts'
import { textsIn } from './modules/marketing/newsletter-texts.ts'
import { recordRefusal } from './modules/marketing/suppressions.ts'
import type { ReminderWorkerOptions } from './modules/reminders/jobs.ts'
import * as segments from './modules/segments/service.ts'
import { isKeptFromMail } from './modules/stores/sandbox-mail.ts'
import * as stores from './modules/stores/service.ts'
import { openUnsubscribe } from './open-unsubscribe.ts'
import type { BulkTransport } from './platform/bulk-smtp.ts'
import type { MailTransport } from './platform/mail.ts'
import type { Runtime } from './runtime.ts'
import { openStorefrontUrl } from './storefront-url.ts'

/**
 * Opens the deps to write campaigns: for the routes, and for the loop that sends their mails. Why campaigns are given
 * these: decision 0054.
 */
export function openCampaigns(
  runtime: Pick<Runtime, 'config' | 'key' | 'scanner'>,
  publicUrl = () => runtime.config.PUBLIC_URL ?? `http://localhost:${runtime.config.PORT}`,
): MailDeps {
  const links = openUnsubscribe(runtime, publicUrl)
  return {
    scanner: runtime.scanner,
    requireSegment: segments.get,
    members: segments.members,
    mayBeMailed: reachable(mayBeMailed),
    hasNotLeft: reachable(hasNotLeft),
    unsubscribeOf(db, email) {
      const headers = unsubscribeHeaders(links, db, email)
      // The header has the link between angle brackets.
      return { url: headers['List-Unsubscribe'].slice(1, -1), headers }
    },
    unsubscribeLabel: (language) => textsIn(language).leave,
    storefrontUrl: openStorefrontUrl(runtime.config, publicUrl),
  }
}

type Choose = typeof mayBeMailed

/** Leaves out whom a sandbox does not mail. */
const reachable =
  (choose: Choose): Choose =>
  async (db, emails) => {
    const chosen = await choose(db, emails)
    if (chosen.size === 0) return chosen
    const store = await stores.get(db)
    return new Set([...chosen].filter((email) => !isKeptFromMail(store, email)))
  }

/** Opens the deps to send reminders of unfinished checkouts, for the loop and the test clock. */
export const openReminders = (
  runtime: Runtime,
  transport: MailTransport,
): ReminderWorkerOptions => ({
  ...openCampaigns(runtime),
  database: runtime.workerDatabase,
  transport,
})

/** Opens the deps to send the mails of campaigns, for the loop and the test clock. */
export const openCampaignSending = (runtime: Runtime, transport: BulkTransport): SendingDeps => ({
  ...openCampaigns(runtime),
  transport,
  dkim: runtime.config.dkim,
  from: runtime.config.MAIL_FROM,
  limits: runtime.limits,
  recordBounce: recordRefusal,
  perMinute: runtime.config.CAMPAIGN_MAILS_PER_MINUTE,
})
