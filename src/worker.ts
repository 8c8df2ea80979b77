import type { Logger } from 'pino'
import { refreshSearchIndex } from './modules/catalog/search.ts'
import * as checkout from './modules/checkout/jobs.ts'
import { onProviderEvent, type ProviderEventDeps } from './modules/checkout/provider-events.ts'
import * as domains from './modules/domains/jobs.ts'
import { createTxtLookup } from './modules/domains/lookup.ts'
import * as fraud from './modules/fraud/jobs.ts'
import * as gateway from './modules/gateway/jobs.ts'
import { WEBHOOK_RECEIVED, type WebhookReceived } from './modules/gateway/schema.ts'
import * as giftCards from './modules/gift-cards/jobs.ts'
import * as identity from './modules/identity/jobs.ts'
import * as inventory from './modules/inventory/jobs.ts'
import * as ledger from './modules/ledger/jobs.ts'
import * as media from './modules/media/jobs.ts'
import { createPendingUploads } from './modules/media/pending-uploads.ts'
import { createComparison } from './modules/payments/jobs.ts'
import * as storeCredit from './modules/store-credit/jobs.ts'
import * as privacy from './modules/views/jobs.ts'
import { createDispatcher } from './modules/webhooks/dispatcher.ts'
import * as webhooks from './modules/webhooks/jobs.ts'
import { WAKE_DISPATCH } from './modules/webhooks/redrive.ts'
import { WAKE_SEALING } from './modules/webhooks/service.ts'
import { openCheckout } from './open-checkout.ts'
import { deleteOldAnswers } from './platform/idempotency-upkeep.ts'
import { forgetOldCounters } from './platform/limits-postgres.ts'
import { type Loop, startLoop } from './platform/loop.ts'
import { createTransport, sendDue } from './platform/mail.ts'
import { deliverDue, forgetHandled, type Handler } from './platform/outbox.ts'
import type { Runtime } from './runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Who acts on an internal event. A type that nobody handles is simply done. */
export function handlersOf({ payments, logger }: Pick<Runtime, 'payments' | 'logger'>) {
  const deps: ProviderEventDeps = {
    payments,
    onAlert: (alert, message) => logger.error(alert, message),
  }
  return {
    'store.language_changed.v1': (_event, db, signal) => refreshSearchIndex(db, signal),
    [WEBHOOK_RECEIVED]: ({ payload }, db) => onProviderEvent(deps, db, payload as WebhookReceived),
  } satisfies Record<string, Handler>
}

/** Every background loop of the platform. Each takes its work by lease, so that many may run. */
export function startWorker(runtime: Runtime): Worker {
  const { workerDatabase: database, config, logger, payments, clock, blobs } = runtime
  const handlers = handlersOf(runtime)
  const comparePayments = createComparison({ database, payments, clock })
  const pendingUploads = createPendingUploads(config.DATA_DIR)
  const checkoutDeps = { ...openCheckout(runtime), database }
  const keys = { exportKey: runtime.key('privacy export'), customersKey: runtime.key('customers') }
  const findTxt = createTxtLookup(config.DNS_SERVERS)
  const transport = config.SMTP_URL ? createTransport(config.SMTP_URL, config.MAIL_FROM) : null
  const loop = (name: string, everyMs: number, step: (signal: AbortSignal) => Promise<number>) =>
    startLoop({ name, everyMs, step, logger })
  const loops = [
    loop('outbox', SECOND, (signal) => deliverDue(database, handlers, { slots: 20, signal })),
    loop('outbox upkeep', HOUR, () => forgetHandled(database)),
    loop('limiter upkeep', HOUR, () => forgetOldCounters(database.global)),
    loop('idempotency upkeep', HOUR, () => deleteOldAnswers(database)),
    loop('unfinished payments', SECOND, (signal) => checkout.reconcile(checkoutDeps, signal)),
    loop('late approvals', SECOND, (signal) => checkout.watchLateApprovals(checkoutDeps, signal)),
    loop('expired authorisations', MINUTE, (signal) =>
      checkout.expireAuthorizations(checkoutDeps, signal),
    ),
    loop('ledger numbering', SECOND, (signal) => ledger.sealDue(database, signal)),
    loop('gift card expiry', 10 * SECOND, (signal) => giftCards.expireDue(database, signal)),
    loop('gift card codes', HOUR, () => giftCards.forgetCodes(database)),
    loop('store credit expiry', 10 * SECOND, (signal) => storeCredit.expireDue(database, signal)),
    loop('domains', 10 * SECOND, (signal) => domains.recheckDue(database, findTxt, signal)),
    loop('fraud hits', MINUTE, (signal) => fraud.foldHits(database, signal)),
    loop('stock recount', DAY, (signal) => inventory.recountAll(database, logger, signal)),
    loop('payment comparison', HOUR, comparePayments),
    loop('media', 60 * SECOND, (signal) => media.collectDue(database, blobs, signal)),
    loop('upload upkeep', HOUR, () => pendingUploads.removeAbandoned()),
    loop('gateway upkeep', HOUR, () => gateway.forgetBodies(database)),
    loop('session upkeep', HOUR, () => identity.forgetExpiredSessions(database.global)),
    loop('privacy exports', 5 * SECOND, (signal) => privacy.exportDue(database, keys, signal)),
    loop('privacy upkeep', HOUR, () => privacy.forgetExports(database)),
    loop('privacy erasures', MINUTE, (signal) => privacy.resumeErasures(database, keys, signal)),
    loop('webhook erasure', 60 * SECOND, (signal) => webhooks.eraseDue(database, signal)),
  ]
  if (transport !== null) {
    loops.push(loop('mail', 5 * SECOND, (signal) => sendDue(database, transport, signal)))
  }
  const dispatch = startDispatch(runtime, loop)
  runtime.wake.listen()
  return stopTogether([...loops, ...dispatch.loops], dispatch.drain, logger)
}

type StartLoop = (name: string, everyMs: number, step: (s: AbortSignal) => Promise<number>) => Loop

/** A new event is sealed at once and then sent; the clock only helps where no word came through. */
function startDispatch({ workerDatabase, config, logger, ...runtime }: Runtime, loop: StartLoop) {
  const { safeFetch, wake, key } = runtime
  const dispatcher = createDispatcher({
    database: workerDatabase,
    fetch: safeFetch,
    key: key('webhook secret'),
    ladder: config.WEBHOOK_RETRY_LADDER,
    logger,
    onFree: () => dispatching.wake(),
  })
  const dispatching = loop('webhook dispatch', SECOND / 2, dispatcher.step)
  const sealing = loop('event numbering', SECOND / 2, async (signal) => {
    const sealed = await webhooks.sealDue(workerDatabase, signal, (err, tenant_ref) =>
      logger.error({ err, tenant_ref }, 'the events of a store could not be numbered'),
    )
    if (sealed > 0) wake.tell(WAKE_DISPATCH)
    return sealed
  })
  wake.on(WAKE_SEALING, sealing.wake)
  wake.on(WAKE_DISPATCH, dispatching.wake)
  return { loops: [sealing, dispatching], drain: dispatcher.drain }
}

export interface Worker {
  /** Lets every running step finish, and gives back what it holds. */
  stop(): Promise<void>
}

function stopTogether(loops: Loop[], drain: () => Promise<void>, logger: Logger): Worker {
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()))
      await drain()
      logger.info('the worker has stopped')
    },
  }
}
