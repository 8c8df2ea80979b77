import { dueApprovals } from './modules/affiliates/jobs.ts'
import { dueCampaigns, dueMailings } from './modules/campaigns/jobs.ts'
import { dueLabels } from './modules/carriers/jobs.ts'
import { duePayments } from './modules/checkout/jobs.ts'
import { dueDeliveries as dueParcels } from './modules/fulfillment/jobs.ts'
import { dueExpiry as dueGiftCards } from './modules/gift-cards/jobs.ts'
import { dueUnconfirmed } from './modules/marketing/newsletter-jobs.ts'
import { dueReminders } from './modules/reminders/jobs.ts'
import { dueRenewals } from './modules/renewals/jobs.ts'
import { dueMails } from './modules/shopper-mail/jobs.ts'
import { queueMails } from './modules/shopper-mail/service.ts'
import { dueExpiry as dueStoreCredit } from './modules/store-credit/jobs.ts'
import { dueDeliveries as dueWebhooks } from './modules/webhooks/dispatcher.ts'
import { dueNumbering } from './modules/webhooks/jobs.ts'
import { openCampaignSending, openReminders } from './open-campaigns.ts'
import { openCheckout } from './open-checkout.ts'
import { openMailSending } from './open-shopper-mail.ts'
import type { BulkTransport } from './platform/bulk-smtp.ts'
import type { DueWork } from './platform/due-work.ts'
import type { MailTransport } from './platform/mail.ts'
import { dueEvents, type Handler } from './platform/outbox.ts'
import type { Runtime } from './runtime.ts'

/** Opens the deps to send deliveries of webhooks, for the loop and the test clock. */
export const openDispatch = ({ workerDatabase, safeFetch, key, config, logger }: Runtime) => ({
  database: workerDatabase,
  fetch: safeFetch,
  key: key('webhook secret'),
  ladder: config.WEBHOOK_RETRY_LADDER,
  logger,
})

/** Opens the deps to finish labels that were interrupted. */
export const openLabels = ({ workerDatabase, carriers, logger }: Runtime) => ({
  carriers,
  database: workerDatabase,
  onAlert: (alert: Record<string, unknown>, message: string) => logger.error(alert, message),
})

interface DueWorkOptions {
  /** The handlers of internal events. */
  handlers: Readonly<Record<string, Handler>>
  /** Null where mails are not sent. */
  transport: MailTransport | null
  bulk: BulkTransport | null
}

/**
 * Every kind of work that becomes due by a store's clock, for the test clock. Where several kinds are due at the same
 * time, the first in this list is done first: interrupted work, then work that money and goods wait for, then mails
 * and deliveries about it. `platform/due-work.ts` says how to add a kind.
 */
export function openDueWork(
  runtime: Runtime,
  { handlers, transport, bulk }: DueWorkOptions,
): readonly DueWork[] {
  const payments = { ...openCheckout(runtime), database: runtime.workerDatabase }
  return [
    dueEvents(handlers),
    ...duePayments(payments),
    dueRenewals(payments),
    dueLabels(openLabels(runtime)),
    dueGiftCards,
    dueStoreCredit,
    dueParcels,
    dueApprovals,
    dueUnconfirmed,
    dueCampaigns,
    dueNumbering(queueMails),
    dueWebhooks(openDispatch(runtime)),
    ...(transport === null ? [] : [dueMails(openMailSending(runtime, transport))]),
    ...(transport === null ? [] : [dueReminders(openReminders(runtime, transport))]),
    ...(bulk === null ? [] : [dueMailings(openCampaignSending(runtime, bulk))]),
  ]
}
