import { ERRORS } from './compose/errors.ts'
import { loadEvents } from './compose/events.ts'
import { healthRoutes } from './health.ts'
import { logRequests } from './http/access-log.ts'
import { readExamples } from './http/api-examples.ts'
import { acceptAnyDigits } from './http/card-text.ts'
import { countBytes } from './http/count-bytes.ts'
import { countCalls } from './http/count-calls.ts'
import { createGuards, decorateRequests, type Limited, onPlane, tokenCheck } from './http/guards.ts'
import { answerFromMemory } from './http/live.ts'
import { describeApi } from './http/openapi.ts'
import { publicPlane, ReadPace } from './http/read-pace.ts'
import { type NameReader, readerNames } from './http/reader.ts'
import { describePages } from './http/reference.ts'
import type { App, Routes } from './http/route.ts'
import { createServer, type ServerOptions } from './http/server.ts'
import * as payoutRoutes from './modules/affiliates/payout-routes.ts'
import * as affiliateRoutes from './modules/affiliates/routes.ts'
import * as affiliatePages from './modules/affiliates/storefront-routes.ts'
import * as promotionRoutes from './modules/analytics/promotion-routes.ts'
import * as analyticsRoutes from './modules/analytics/routes.ts'
import * as billingOperatorRoutes from './modules/billing/operator-routes.ts'
import * as billingRoutes from './modules/billing/routes.ts'
import * as campaignRoutes from './modules/campaigns/routes.ts'
import * as labelRoutes from './modules/carriers/routes.ts'
import * as activationRoutes from './modules/catalog/activation-routes.ts'
import * as collectionRoutes from './modules/catalog/collection-routes.ts'
import * as imageRoutes from './modules/catalog/image-routes.ts'
import { ProductFragments } from './modules/catalog/product-fragments.ts'
import * as catalogPublicRoutes from './modules/catalog/public-routes.ts'
import * as catalogRoutes from './modules/catalog/routes.ts'
import { createSearchQueue } from './modules/catalog/search.ts'
import * as searchRoutes from './modules/catalog/search-routes.ts'
import * as decidePaymentRoutes from './modules/checkout/decide-payment-routes.ts'
import * as exchangeRoutes from './modules/checkout/exchange-routes.ts'
import * as keyRoutes from './modules/checkout/lookup-routes.ts'
import * as remyStoreRoutes from './modules/checkout/review-routes.ts'
import * as checkoutRoutes from './modules/checkout/routes.ts'
import * as credentialRoutes from './modules/credentials/routes.ts'
import * as credentials from './modules/credentials/service.ts'
import * as storefrontTokenRoutes from './modules/credentials/storefront-token-routes.ts'
import { openTokenCheck } from './modules/credentials/storefront-tokens.ts'
import * as documentRoutes from './modules/documents/routes.ts'
import * as domainRoutes from './modules/domains/routes.ts'
import * as limitRoutes from './modules/entitlements/limit-routes.ts'
import * as entitlementRoutes from './modules/entitlements/routes.ts'
import * as feedRoutes from './modules/feeds/routes.ts'
import * as fraudRoutes from './modules/fraud/routes.ts'
import * as fulfillmentRoutes from './modules/fulfillment/routes.ts'
import * as fulfillment from './modules/fulfillment/service.ts'
import * as giftCardRoutes from './modules/gift-cards/routes.ts'
import type { Identity } from './modules/identity/deps.ts'
import * as identityPages from './modules/identity/page-routes.ts'
import * as identityRoutes from './modules/identity/routes.ts'
import * as identity from './modules/identity/service.ts'
import * as inventoryRoutes from './modules/inventory/routes.ts'
import { publicStock, readStockVersion } from './modules/inventory/service.ts'
import * as ledgerRoutes from './modules/ledger/routes.ts'
import * as consentRoutes from './modules/marketing/consent-routes.ts'
import * as newsletterRoutes from './modules/marketing/newsletter-routes.ts'
import * as marketingRoutes from './modules/marketing/routes.ts'
import * as suppressionRoutes from './modules/marketing/suppression-routes.ts'
import * as mediaRoutes from './modules/media/routes.ts'
import * as myStoreRoutes from './modules/my-store/routes.ts'
import * as correctRoutes from './modules/order-changes/correct-routes.ts'
import * as editPremyStoreRoutes from './modules/order-changes/edit-preview-routes.ts'
import * as orderChangeRoutes from './modules/order-changes/routes.ts'
import * as orderLinkRoutes from './modules/order-links/routes.ts'
import * as explainRoutes from './modules/orders/explain-routes.ts'
import * as orderRoutes from './modules/orders/routes.ts'
import * as orders from './modules/orders/service.ts'
import * as paymentRoutes from './modules/payments/routes.ts'
import * as pricingRoutes from './modules/pricing/routes.ts'
import * as customerRoutes from './modules/privacy/customer-routes.ts'
import * as privacyRoutes from './modules/privacy/routes.ts'
import * as providerEventRoutes from './modules/provider-events/routes.ts'
import * as purchasingRoutes from './modules/purchasing/routes.ts'
import * as reminderRoutes from './modules/reminders/routes.ts'
import { keepCart } from './modules/reminders/service.ts'
import * as renewalRoutes from './modules/renewals/routes.ts'
import { exchangeOf } from './modules/returns/exchange-money.ts'
import * as returnRoutes from './modules/returns/routes.ts'
import * as returns from './modules/returns/service.ts'
import * as sampleRoutes from './modules/samples/routes.ts'
import * as segmentRoutes from './modules/segments/routes.ts'
import * as shopperMailRoutes from './modules/shopper-mail/routes.ts'
import * as siteRoutes from './modules/sites/routes.ts'
import * as storeCreditRoutes from './modules/store-credit/routes.ts'
import * as storeRoutes from './modules/stores/routes.ts'
import * as stores from './modules/stores/service.ts'
import * as subscriptionRoutes from './modules/subscriptions/routes.ts'
import { listOfOrder } from './modules/subscriptions/service.ts'
import * as testClockRoutes from './modules/test-clock/routes.ts'
import { describeEvents } from './modules/webhooks/describe.ts'
import * as webhookRoutes from './modules/webhooks/routes.ts'
import { onTestFlag } from './on-test-flag.ts'
import { type Deps, openDeps } from './open-deps.ts'
import { openDueWork } from './open-due-work.ts'
import type { LiveCache } from './platform/live-cache.ts'
import { callerOf } from './platform/rate-limits.ts'
import { ownToken, type Runtime } from './runtime.ts'
import { startRoutes } from './start-page.ts'

/** The functions that show the parcels and returns of an order. */
const PARCELS = {
  listFulfillments: fulfillment.listOfOrder,
  listWork: fulfillment.listWorkOfOrder,
  listTracking: fulfillment.listTracking,
  listReturns: returns.listOfOrder,
  readForShopper: returns.readForShopper,
  findExchange: exchangeOf,
}

/**
 * Builds the whole platform as one HTTP application: every route, under the plane that guards it.
 */
export async function buildApp(
  runtime: Runtime,
  {
    hasStorefront = false,
    ...options
  }: Pick<ServerOptions, 'onUndeclared' | 'schemaController'> & { hasStorefront?: boolean } = {},
): Promise<App> {
  const { config, logger, cache, metrics, database } = runtime
  const app = createServer({
    ...options,
    logger,
    trustProxy: config.TRUST_PROXY,
    onFailure: metrics?.countFailure,
  })
  decorateRequests(app)
  logRequests(app, metrics?.observe ?? null)
  countCalls(app, runtime.apiCalls.count)
  countBytes(app)
  describeApi(app, { webhooks: describeEvents(await loadEvents()), readExamples, errors: ERRORS })
  describePages(app)
  dropAfterWrites(app, cache)
  const readerOf = readerNames(config.TRUST_PROXY, tokenCheck(storefrontTokensOf(runtime)))
  const pace = new ReadPace({
    othersAreAtWork: (store) => database.isShared(store),
    isKnown: (store) => database.isKnown(store),
    readerOf,
  })
  answerFromMemory(app, {
    cache,
    reads: [...siteRoutes.liveReads(cache), ...catalogPublicRoutes.liveReads(cache)],
    logger,
    count: metrics?.countLive ?? null,
    pace,
  })
  const deps = await openDeps(runtime, app)
  const guards = openGuards(runtime, deps.owners)
  const open = [
    startRoutes({ runtime, hasStorefront }),
    ...publicRoutes(runtime, deps, { limited: guards.limited, readerOf }),
  ]
  await app.register(publicPlane(pace, database, open))
  await app.register(
    onPlane('owner', guards.owner, [
      identityRoutes.ownerRoutes(deps.owners, guards.limited),
      credentialRoutes.ownerRoutes(runtime.database),
    ]),
  )
  await app.register(onPlane('merchant', guards.merchant, merchantRoutes(runtime, deps)))
  await app.register(onPlane('storefront', guards.storefront, storefrontRoutes(runtime, deps)))
  await app.register(onPlane('operator', guards.operator, operatorRoutes(runtime, deps)))
  return app
}

function openGuards(runtime: Runtime, owners: Identity) {
  const { secrets, database, limits } = runtime
  return createGuards({
    limits,
    callerOf,
    database,
    checkKey: (key) => credentials.check(database.directory, key),
    checkSession: (token) => identity.check(owners, token),
    checkStoreToken: openTokenCheck(runtime),
    requireStore: stores.openStoreCheck(),
    operatorTokens: [secrets.OPERATOR_TOKEN],
    storefrontTokens: storefrontTokensOf(runtime),
    ownToken: ownToken(runtime),
  })
}

const storefrontTokensOf = (runtime: Runtime): string[] =>
  [
    runtime.secrets.STOREFRONT_TOKEN,
    runtime.config.STOREFRONT_TOKEN_PREVIOUS,
    ownToken(runtime),
  ].filter((token) => token !== undefined)

/** The memory for products of lists, beside the live cache's own, as a share of it. */
const FRAGMENT_SHARE = 1 / 8

function publicRoutes(
  runtime: Runtime,
  deps: Deps,
  { limited, readerOf }: { limited: Limited; readerOf: NameReader },
): Routes[] {
  const { config, database, cache, limits, scanner } = runtime
  const searchQueue = createSearchQueue(config.DATABASE_POOL_MAX)
  const fragments = new ProductFragments(
    config.LIVE_CACHE_MB * 1_024 * 1_024 * FRAGMENT_SHARE,
    publicStock,
  )
  return [
    healthRoutes(runtime),
    identityRoutes.publicRoutes(deps.owners, limited),
    identityPages.pageRoutes(deps.owners, limited),
    newsletterRoutes.pageRoutes(database, deps.newsletter),
    acceptAnyDigits(
      suppressionRoutes.publicRoutes({ database, feedbackKey: config.MAIL_FEEDBACK_KEY, limited }),
    ),
    siteRoutes.publicRoutes({ database, cache }, deps.preview),
    catalogPublicRoutes.publicRoutes({
      database,
      cache,
      fragments,
      readStock: publicStock,
      ...deps.catalog,
    }),
    searchRoutes.publicRoutes({ database, searchQueue, fragments, ...deps.catalog }),
    feedRoutes.publicRoutes({
      database,
      cache,
      fragments,
      scanner,
      readStockVersion,
      readerOf,
      ...deps.feeds,
    }),
    mediaRoutes.publicRoutes(database, { ...deps.media, readerOf }),
    acceptAnyDigits(providerEventRoutes.publicRoutes({ ...deps.providerEvents, limits, callerOf })),
  ]
}

const merchantRoutes = (runtime: Runtime, deps: Deps): Routes[] => [
  myStoreRoutes.merchantRoutes({
    ...deps.limits,
    scanner: runtime.scanner,
  }),
  customerRoutes.merchantRoutes({ customersKey: runtime.key('customers') }),
  acceptAnyDigits(privacyRoutes.merchantRoutes(deps.privacy)),
  storeRoutes.merchantRoutes,
  testClockRoutes.merchantRoutes({
    clocks: runtime.clocks,
    workerDatabase: runtime.workerDatabase,
    // Used for its times alone: a worker has the handlers of events, and sends the mails.
    work: openDueWork(runtime, { handlers: {}, transport: null, bulk: null }),
  }),
  credentialRoutes.merchantRoutes(runtime.database),
  storefrontTokenRoutes.merchantRoutes,
  entitlementRoutes.merchantRoutes,
  acceptAnyDigits(siteRoutes.merchantRoutes(runtime.scanner, deps.preview)),
  domainRoutes.merchantRoutes(deps.domains),
  ledgerRoutes.merchantRoutes(runtime.key('ledger verification')),
  analyticsRoutes.merchantRoutes,
  billingRoutes.merchantRoutes({ pdfs: runtime.pdfs }),
  giftCardRoutes.merchantRoutes(deps.giftCards),
  storeCreditRoutes.merchantRoutes({ ...deps.giftCards, requireOrder: orders.get }),
  fraudRoutes.merchantRoutes({ velocityLimit: runtime.config.CHECKOUT_VELOCITY_PER_MINUTE }),
  paymentRoutes.merchantRoutes({ payments: runtime.payments, limits: runtime.limits }),
  webhookRoutes.merchantRoutes(deps.webhooks),
  acceptAnyDigits(catalogRoutes.merchantRoutes(deps.catalog)),
  sampleRoutes.merchantRoutes(deps.media),
  activationRoutes.merchantRoutes,
  acceptAnyDigits(imageRoutes.merchantRoutes(deps.catalog)),
  acceptAnyDigits(collectionRoutes.merchantRoutes),
  inventoryRoutes.merchantRoutes({ idempotencyKey: runtime.key('idempotency fingerprint') }),
  purchasingRoutes.merchantRoutes({ idempotencyKey: runtime.key('idempotency fingerprint') }),
  acceptAnyDigits(mediaRoutes.merchantRoutes(deps.media)),
  marketingRoutes.merchantRoutes,
  campaignRoutes.merchantRoutes(deps.campaigns),
  promotionRoutes.merchantRoutes,
  reminderRoutes.merchantRoutes,
  newsletterRoutes.merchantRoutes(deps.newsletter),
  consentRoutes.merchantRoutes({ customersKey: runtime.key('customers') }),
  suppressionRoutes.merchantRoutes,
  segmentRoutes.merchantRoutes,
  affiliateRoutes.merchantRoutes(deps.affiliates),
  payoutRoutes.merchantRoutes(deps.affiliates),
  pricingRoutes.merchantRoutes,
  orderRoutes.merchantRoutes(PARCELS),
  fulfillmentRoutes.merchantRoutes({ idempotencyKey: runtime.key('idempotency fingerprint') }),
  documentRoutes.merchantRoutes({ pdfs: runtime.pdfs, ...deps.media }),
  labelRoutes.merchantRoutes({
    carriers: runtime.carriers,
    idempotencyKey: runtime.key('idempotency fingerprint'),
  }),
  shopperMailRoutes.merchantRoutes(deps.shopperMail),
  explainRoutes.merchantRoutes({ subscriptionsOf: listOfOrder }),
  orderChangeRoutes.merchantRoutes(deps.checkout),
  editPremyStoreRoutes.merchantRoutes(deps.checkout),
  correctRoutes.merchantRoutes(deps.checkout),
  returnRoutes.merchantRoutes(deps.checkout),
  subscriptionRoutes.merchantRoutes(deps.checkout),
  exchangeRoutes.merchantRoutes(deps.checkout),
  remyStoreRoutes.merchantRoutes(deps.checkout),
  renewalRoutes.merchantRoutes(deps.checkout),
  keyRoutes.merchantRoutes,
]

const storefrontRoutes = (
  { payments, limits }: Runtime,
  { giftCards, checkout, orderLinks, subscriptionLinks, newsletter, affiliates }: Deps,
): Routes[] => [
  giftCardRoutes.storefrontRoutes(giftCards),
  orderRoutes.storefrontRoutes(PARCELS),
  orderLinkRoutes.storefrontRoutes(orderLinks),
  newsletterRoutes.storefrontRoutes(newsletter),
  affiliatePages.storefrontRoutes(affiliates),
  analyticsRoutes.storefrontRoutes({ limits }),
  orderChangeRoutes.storefrontRoutes(checkout),
  editPremyStoreRoutes.storefrontRoutes(checkout),
  returnRoutes.storefrontRoutes({ ...checkout, ...PARCELS }),
  subscriptionRoutes.storefrontRoutes({ ...checkout, links: subscriptionLinks }),
  checkoutRoutes.storefrontRoutes({
    ...checkout,
    keepCart: (db, cart) => keepCart(limits, db, cart),
  }),
  exchangeRoutes.storefrontRoutes(checkout),
  paymentRoutes.storefrontRoutes(payments.deps),
  keyRoutes.storefrontRoutes,
]

function operatorRoutes(runtime: Runtime, deps: Deps): Routes[] {
  const { database, scanner, payments } = runtime
  const operator = runtime.operatorDatabase.allStores
  return [
    storeRoutes.operatorRoutes({ database, operator }),
    testClockRoutes.operatorRoutes(payments.deps),
    myStoreRoutes.operatorRoutes,
    entitlementRoutes.operatorRoutes({ database, operator }),
    limitRoutes.operatorRoutes({ database, counted: deps.limits.counted }),
    acceptAnyDigits(siteRoutes.operatorRoutes(scanner)),
    domainRoutes.operatorRoutes(deps.domains),
    paymentRoutes.operatorRoutes(payments.deps, operator),
    webhookRoutes.operatorRoutes({ database, operator }),
    providerEventRoutes.operatorRoutes({ ...deps.providerEvents, operator }),
    activationRoutes.operatorRoutes({ database, operator, ...deps.catalog }),
    orderRoutes.operatorRoutes(onTestFlag),
    suppressionRoutes.operatorRoutes({ database, operator }),
    billingOperatorRoutes.operatorRoutes({
      database,
      operator,
      idempotencyKey: runtime.key('idempotency fingerprint'),
    }),
    orderChangeRoutes.operatorRoutes(deps.checkout),
    decidePaymentRoutes.operatorRoutes(deps.checkout),
    shopperMailRoutes.operatorRoutes(operator),
  ]
}

/**
 * Drops a store's cached responses before a write to it is answered, so that the caller sees its own write. Other
 * processes learn about it by notification.
 */
function dropAfterWrites(app: App, cache: LiveCache): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    // Shoppers' writes change no public response except stock, and responses with stock expire soon anyway.
    const shops = request.routeOptions.config.plane === 'storefront'
    if (!reads && !shops && request.db) cache.drop(request.db.tenant)
    done()
  })
}
