import type { Logger } from 'pino'
import { loadCustomerData } from './compose/customer-data.ts'
import { LIVES } from './compose/lives.ts'
import type { Database } from './db/database.ts'
import { HOUR_MS, MINUTE_MS } from './kernel/time.ts'
import { approveDue } from './modules/affiliates/jobs.ts'
import * as analytics from './modules/analytics/jobs.ts'
import * as billing from './modules/billing/jobs.ts'
import { createMailingWorker, moveDue } from './modules/campaigns/jobs.ts'
import { WAKE_CAMPAIGN_MAIL } from './modules/campaigns/service.ts'
import { isOfCarrier, onCarrierEvent } from './modules/carriers/event-jobs.ts'
import { finishLabels } from './modules/carriers/jobs.ts'
import { LABEL_UNUSED, voidOfCancelled, voidUnused } from './modules/carriers/void-label.ts'
import { LANGUAGE_CHANGED, refreshSearchIndex } from './modules/catalog/search.ts'
import * as checkout from './modules/checkout/jobs.ts'
import { onProviderEvent, type ProviderEventDeps } from './modules/checkout/provider-event-jobs.ts'
import * as domains from './modules/domains/jobs.ts'
import { createTxtLookup } from './modules/domains/txt-lookup.ts'
import * as fraud from './modules/fraud/jobs.ts'
import * as fulfillment from './modules/fulfillment/jobs.ts'
import { PARCEL_CANCELLED } from './modules/fulfillment/service.ts'
import * as giftCards from './modules/gift-cards/jobs.ts'
import * as identity from './modules/identity/jobs.ts'
import { createRecount } from './modules/inventory/jobs.ts'
import { postStockJournals } from './modules/inventory/journal-jobs.ts'
import * as ledger from './modules/ledger/jobs.ts'
import { createVerification } from './modules/ledger/verify-jobs.ts'
import * as newsletter from './modules/marketing/newsletter-jobs.ts'
import * as media from './modules/media/jobs.ts'
import { createPendingUploads } from './modules/media/pending-uploads.ts'
import { createComparison } from './modules/payments/jobs.ts'
import * as privacy from './modules/privacy/jobs.ts'
import * as providerEvents from './modules/provider-events/jobs.ts'
import { WEBHOOK_RECEIVED } from './modules/provider-events/schema.ts'
import { readEventSubject } from './modules/provider-events/service.ts'
import { createReminderWorker, deleteOldCarts } from './modules/reminders/jobs.ts'
import { onCardUpdate } from './modules/renewals/event-jobs.ts'
import { createRenewalWorker } from './modules/renewals/jobs.ts'
import * as segments from './modules/segments/jobs.ts'
import { createMailWorker } from './modules/shopper-mail/jobs.ts'
import { queueMails, WAKE_SHOPPER_MAIL } from './modules/shopper-mail/service.ts'
import * as storeCredit from './modules/store-credit/jobs.ts'
import { PROVISIONED } from './modules/stores/service.ts'
import {
  NOTICE_DAYS_CHANGED,
  rescheduleAll,
  WAKE_RENEWALS,
} from './modules/subscriptions/cycles.ts'
import { type MoverDeps, moveClocks } from './modules/test-clock/jobs.ts'
import { WAKE_NUMBERING } from './modules/webhooks/define-event.ts'
import { createDispatcher } from './modules/webhooks/dispatcher.ts'
import * as webhooks from './modules/webhooks/jobs.ts'
import { WAKE_DISPATCH } from './modules/webhooks/redrive.ts'
import { openCampaignSending, openReminders } from './open-campaigns.ts'
import { openCheckout } from './open-checkout.ts'
import { openDispatch, openDueWork, openLabels } from './open-due-work.ts'
import { openMailSending } from './open-shopper-mail.ts'
import { announceOnce } from './platform/announce-once.ts'
import { type BulkTransport, createBulkTransport } from './platform/bulk-smtp.ts'
import { deleteOldAnswers, freeAbandonedKeys } from './platform/idempotency-upkeep.ts'
import { type Loop, startLoop } from './platform/loop.ts'
import { createTransport, type MailTransport, sendDue } from './platform/mail.ts'
import { createOutboxWorker, deleteHandled, type Handler, handle } from './platform/outbox.ts'
import { dropOldMonths, makePartitions } from './platform/partitions.ts'
import { createWordPruning, pruneOldRows } from './platform/prune.ts'
import { deleteOldCounters } from './platform/rate-limits-postgres.ts'
import { MONTHS_LOOP, SLICES_LOOP } from './platform/retention.ts'
import { planForBigStores } from './platform/store-plans.ts'
import type { Runtime } from './runtime.ts'

const SECOND = 1_000

/** The handlers of internal events: every type that is published has one. */
export function handlersOf({
  payments,
  carriers,
  logger,
}: Pick<Runtime, 'payments' | 'carriers' | 'logger'>) {
  const deps: ProviderEventDeps = {
    payments,
    onAlert: (alert, message) => logger.error(alert, message),
  }
  return {
    // The event that a store was created. No part of the platform has anything to do then.
    [PROVISIONED.type]: handle(PROVISIONED, () => Promise.resolve()),
    [LANGUAGE_CHANGED.type]: handle(LANGUAGE_CHANGED, (_, db, signal) =>
      refreshSearchIndex(db, signal),
    ),
    [PARCEL_CANCELLED.type]: handle(PARCEL_CANCELLED, (parcel, db) =>
      voidOfCancelled({ carriers }, db, parcel),
    ),
    [LABEL_UNUSED.type]: handle(LABEL_UNUSED, (label, db) => voidUnused({ carriers }, db, label)),
    [NOTICE_DAYS_CHANGED.type]: handle(NOTICE_DAYS_CHANGED, (_, db, signal) =>
      rescheduleAll(db, signal),
    ),
    [WEBHOOK_RECEIVED.type]: handle(WEBHOOK_RECEIVED, async (event, db) => {
      if (isOfCarrier(event)) return onCarrierEvent({ carriers }, db, event)
      const subject = await readEventSubject(db, event)
      if (subject === null) return
      if (subject.topic === 'cards') return onCardUpdate(db, event, subject)
      return onProviderEvent(deps, db, event, subject)
    }),
  } satisfies Record<string, Handler>
}

/** Passes a step of a loop its deps. */
const withDeps =
  <Deps>(deps: Deps) =>
  (step: (deps: Deps, signal?: AbortSignal) => Promise<number>) =>
  (signal: AbortSignal) =>
    step(deps, signal)

/**
 * Starts every background loop of the platform. Each claims its work by lease, so that many workers
 * may run.
 */
export function startWorker(runtime: Runtime): Worker {
  const { workerDatabase: database, config, logger, payments, clock, blobs } = runtime
  const handlers = handlersOf(runtime)
  const comparePayments = createComparison({ database, payments, clock })
  const verifyLedgers = createVerification({
    database,
    key: runtime.key('ledger verification'),
    days: config.HISTORY_CHECK_DAYS,
    logger,
    onStep: runtime.metrics?.countLedger,
  })
  const recountStock = createRecount({ database, logger, days: config.HISTORY_CHECK_DAYS })
  const pendingUploads = createPendingUploads(config.DATA_DIR)
  const checkoutDeps = { ...openCheckout(runtime), database }
  const withCheckout = withDeps(checkoutDeps)
  const labelDeps = openLabels(runtime)
  const transport = createTransport(config.SMTP_URL, config.MAIL_FROM, { dkim: config.dkim })
  const bulk = config.SMTP_URL ? createBulkTransport(config.SMTP_URL) : null
  if (config.production && transport === null) {
    logger.warn('SMTP_URL is not set: mails wait in their table and are not sent')
  }
  const loop = (name: string, everyMs: number, step: (signal: AbortSignal) => Promise<number>) =>
    startLoop({ name, everyMs, step, logger, onStep: runtime.metrics?.countStep })
  const outbox = createOutboxWorker({ database, handlers, onFree: () => outboxLoop.wake() })
  const outboxLoop = loop('outbox', SECOND, outbox.step)
  const loops = [
    outboxLoop,
    ...startUpkeep(runtime, loop),
    loop('unfinished payments', SECOND, withCheckout(checkout.reconcile)),
    loop('unfinished labels', SECOND, (signal) => finishLabels(labelDeps, signal)),
    loop('late approvals', SECOND, withCheckout(checkout.watchLateApprovals)),
    loop('expired authorisations', MINUTE_MS, withCheckout(checkout.expireAuthorizations)),
    loop('expired payment requests', MINUTE_MS, withCheckout(checkout.expirePaymentRequests)),
    ...startBooks(runtime, loop),
    loop('ledger verification', 5 * SECOND, verifyLedgers),
    loop('gift card expiry', 10 * SECOND, (signal) => giftCards.expireDue(database, signal)),
    loop('gift card codes', HOUR_MS, () => giftCards.eraseOldCodes(database)),
    loop('store credit expiry', 10 * SECOND, (signal) => storeCredit.expireDue(database, signal)),
    loop('parcel delivery', MINUTE_MS, (signal) => fulfillment.deliverParcels(database, signal)),
    ...startMarketing(runtime, loop),
    loop('domains', 10 * SECOND, recheckHostnames(runtime)),
    loop('fraud hits', MINUTE_MS, (signal) => fraud.addHitsToBans(database, signal)),
    loop('stock recount', MINUTE_MS, recountStock),
    loop('payment comparison', HOUR_MS, comparePayments),
    loop('media', 60 * SECOND, (signal) => media.collectDue(database, blobs, signal)),
    loop('upload upkeep', HOUR_MS, () => pendingUploads.removeAbandoned()),
    loop('gateway upkeep', HOUR_MS, () => providerEvents.eraseOldBodies(database)),
    loop('webhook erasure', 60 * SECOND, (signal) =>
      webhooks.eraseDeliveredEvents(database, signal),
    ),
  ]
  if (transport !== null) {
    loops.push(loop('mail', 5 * SECOND, (signal) => sendDue(database, transport, signal)))
  }
  loops.push(
    ...startPrivacy(runtime, loop),
    ...startRetention(runtime, loop),
    startClocks(runtime, { handlers, transport, bulk }, loop),
  )
  const started = [
    startDispatch(runtime, loop),
    startRenewals(runtime, checkoutDeps, loop),
    transport === null ? NO_LOOPS : startShopperMail(runtime, transport, loop),
    transport === null ? NO_LOOPS : startReminders(runtime, transport, loop),
    bulk === null ? NO_LOOPS : startCampaignMail(runtime, bulk, loop),
  ]
  runtime.notifier.listen()
  return stopTogether(
    [...loops, ...started.flatMap((each) => each.loops)],
    [outbox.drain, ...started.map((each) => each.drain)],
    logger,
  )
}

/** A step of the loop that looks for the records of hostnames. */
function recheckHostnames({ workerDatabase, config }: Runtime) {
  const findTxt = createTxtLookup(config.DNS_SERVERS)
  const asksForTls = config.TLS_FRONT === 'on_demand'
  return (signal: AbortSignal) =>
    domains.recheckDue(workerDatabase, findTxt, { signal, asksForTls })
}

const NO_LOOPS = { loops: [], drain: async () => {} }

type StartLoop = (name: string, everyMs: number, step: (s: AbortSignal) => Promise<number>) => Loop

/** Starts the loop that moves the clocks of sandbox stores. */
function startClocks(
  runtime: Runtime,
  options: Parameters<typeof openDueWork>[1],
  loop: StartLoop,
): Loop {
  const { workerDatabase: database, clocks, logger } = runtime
  const deps: MoverDeps = {
    database,
    clocks,
    work: openDueWork(runtime, options),
    onAlert: (alert, message) => logger.error(alert, message),
  }
  return loop('test clocks', SECOND / 2, (signal) => moveClocks(deps, signal))
}

/** Starts the loops that export and erase data at the request of customers. */
function startPrivacy({ workerDatabase: database, key }: Runtime, loop: StartLoop) {
  const keys = { exportKey: key('privacy export'), customersKey: key('customers') }
  return [
    loop('privacy exports', 5 * SECOND, (signal) => privacy.makeDueExports(database, keys, signal)),
    loop('privacy upkeep', HOUR_MS, () => privacy.deleteExpiredExports(database)),
    loop('privacy erasures', MINUTE_MS, (signal) =>
      privacy.resumeErasures(database, { ...keys, loadCustomerData }, signal),
    ),
  ]
}

/** Starts the loops that delete what the platform itself no longer needs, and keep its plans right. */
const startUpkeep = ({ workerDatabase: database }: Runtime, loop: StartLoop) => [
  loop('outbox upkeep', HOUR_MS, () => deleteHandled(database)),
  loop('limiter upkeep', HOUR_MS, () => deleteOldCounters(database.directory)),
  loop('idempotency upkeep', HOUR_MS, () => deleteOldAnswers(database)),
  loop('abandoned keys', HOUR_MS, () => freeAbandonedKeys(database)),
  loop('session upkeep', HOUR_MS, () => identity.deleteOldRows(database.directory)),
  loop('store plans', HOUR_MS, (signal) => planForBigStores(database, signal)),
]

/** Starts the loops that start and end campaigns, and delete old unconfirmed readers and old carts. */
const startMarketing = ({ workerDatabase: database }: Runtime, loop: StartLoop) => [
  loop('campaigns', SECOND, (signal) => moveDue(database, signal)),
  loop('newsletter upkeep', HOUR_MS, () => newsletter.deleteUnconfirmed(database)),
  loop('reminder upkeep', HOUR_MS, () => deleteOldCarts(database)),
]

/** Starts the loop that numbers journals, and announces them to the loops that count them. */
function startNumbering(database: Database, loop: StartLoop) {
  const counts = announceOnce([analytics.onNewLinks, segments.onNewLinks])
  return loop('ledger numbering', SECOND, (signal) =>
    ledger.chainNewJournals(database, {
      signal,
      onLinks: counts.onNew,
      onNumbered: counts.onCommitted,
    }),
  )
}

/** Starts the loops that post, number and count journals, and book and bill what follows. */
const startBooks = ({ workerDatabase: database }: Runtime, loop: StartLoop) => [
  loop('stock journals', SECOND, (signal) => postStockJournals(database, signal)),
  startNumbering(database, loop),
  loop('segments', 5 * SECOND, (signal) => segments.countPeople(database, signal)),
  loop('analytics', analytics.COUNT_EVERY_MS, (signal) =>
    analytics.countNumbered(database, signal),
  ),
  loop('commission approval', MINUTE_MS, (signal) => approveDue(database, signal)),
  loop('billing', 30 * SECOND, (signal) => billing.countAndClose(database, signal)),
  loop('billing reminders', MINUTE_MS, (signal) => billing.remindDue(database, signal)),
  loop('billing upkeep', HOUR_MS, () => billing.deleteIdleWriters(database)),
]

/** Starts the loops that make partitions ahead, and drop or delete old months and rows. */
function startRetention({ workerDatabase, config, logger, blobs }: Runtime, loop: StartLoop) {
  const archive = config.RETENTION_ARCHIVE === 'on' ? blobs : null
  const deps = { database: workerDatabase, lives: LIVES, periods: config, archive, logger }
  const pruneWords = createWordPruning(workerDatabase)
  return [
    loop('partitions', HOUR_MS, (signal) => makePartitions(workerDatabase, logger, signal)),
    loop(MONTHS_LOOP, HOUR_MS, (signal) => dropOldMonths(deps, signal)),
    loop(SLICES_LOOP, HOUR_MS, (signal) => pruneOldRows(deps, signal)),
    loop('search words', HOUR_MS, pruneWords),
  ]
}

/**
 * Starts the loops that number and send events. A new event is numbered at once and then sent; the
 * timer only helps when a notification was lost.
 */
function startDispatch(runtime: Runtime, loop: StartLoop) {
  const { workerDatabase, notifier, logger } = runtime
  const dispatcher = createDispatcher({
    ...openDispatch(runtime),
    onFree: () => dispatching.wake(),
  })
  const dispatching = loop('webhook dispatch', SECOND / 2, dispatcher.step)
  const numbering = loop('event numbering', SECOND / 2, async (signal) => {
    const numbered = await webhooks.numberNewEvents(workerDatabase, {
      signal,
      onFault: (err, tenant_ref) =>
        logger.error({ err, tenant_ref }, 'the events of a store could not be numbered'),
      onNumbered: queueMails,
    })
    if (numbered > 0) notifier.notify(WAKE_DISPATCH)
    return numbered
  })
  notifier.subscribe(WAKE_NUMBERING, numbering.wake)
  notifier.subscribe(WAKE_DISPATCH, dispatching.wake)
  return { loops: [numbering, dispatching], drain: dispatcher.drain }
}

/** Starts the scheduler of subscriptions. A new card wakes it. */
function startRenewals(
  { notifier }: Runtime,
  deps: Parameters<typeof createRenewalWorker>[0],
  loop: StartLoop,
) {
  const worker = createRenewalWorker({ ...deps, onFree: () => charging.wake() })
  const charging = loop('renewals', SECOND, worker.step)
  notifier.subscribe(WAKE_RENEWALS, charging.wake)
  return { loops: [charging], drain: worker.drain }
}

/** Starts the loop that sends mails to shoppers. New ones wake it. */
function startShopperMail(runtime: Runtime, transport: MailTransport, loop: StartLoop) {
  const worker = createMailWorker({
    ...openMailSending(runtime, transport),
    onFree: () => sending.wake(),
  })
  const sending = loop('shopper mail', SECOND, worker.step)
  runtime.notifier.subscribe(WAKE_SHOPPER_MAIL, sending.wake)
  return { loops: [sending], drain: worker.drain }
}

/** Starts the loop that reminds shoppers of checkouts that they did not finish. */
function startReminders(runtime: Runtime, transport: MailTransport, loop: StartLoop) {
  const worker = createReminderWorker({
    ...openReminders(runtime, transport),
    onFree: () => sending.wake(),
  })
  const sending = loop('checkout reminders', 10 * SECOND, worker.step)
  return { loops: [sending], drain: worker.drain }
}

/** Starts the loop that sends the mails of campaigns, over connections of its own. */
function startCampaignMail(runtime: Runtime, transport: BulkTransport, loop: StartLoop) {
  const worker = createMailingWorker({
    ...openCampaignSending(runtime, transport),
    database: runtime.workerDatabase,
    onFree: () => sending.wake(),
  })
  const sending = loop('campaign mail', SECOND, worker.step)
  runtime.notifier.subscribe(WAKE_CAMPAIGN_MAIL, sending.wake)
  return {
    loops: [sending],
    async drain() {
      await worker.drain()
      transport.close()
    },
  }
}

export interface Worker {
  /** How many loops the worker runs. */
  loops: number
  /** Waits for every running step, and releases its leases. */
  stop(): Promise<void>
}

function stopTogether(loops: Loop[], drains: (() => Promise<void>)[], logger: Logger): Worker {
  return {
    loops: loops.length,
    async stop() {
      await Promise.all(loops.map((each) => each.stop()))
      await Promise.all(drains.map((drain) => drain()))
      logger.info('the worker has stopped')
    },
  }
}
