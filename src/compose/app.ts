import { healthRoutes } from '../health.ts'
import { logRequests } from '../http/access-log.ts'
import { readExamples } from '../http/api-examples.ts'
import { countBytes } from '../http/count-bytes.ts'
import { countCalls } from '../http/count-calls.ts'
import { createGuards, decorateRequests, onPlane, tokenCheck } from '../http/guards.ts'
import { answerFromMemory } from '../http/live.ts'
import { describeApi } from '../http/openapi.ts'
import { publicPlane, ReadPace } from '../http/read-pace.ts'
import { readerNames } from '../http/reader.ts'
import { describePages } from '../http/reference.ts'
import type { App, Plane } from '../http/route.ts'
import { createServer, type ServerOptions, shareShapes } from '../http/server.ts'
import { ProductFragments } from '../modules/catalog/product-fragments.ts'
import * as credentials from '../modules/credentials/service.ts'
import { openTokenCheck } from '../modules/credentials/storefront-tokens.ts'
import type { House, ServingHouse } from '../modules/house.ts'
import type { Identity } from '../modules/identity/deps.ts'
import { openIdentity } from '../modules/identity/open.ts'
import * as identity from '../modules/identity/service.ts'
import { createPendingUploads } from '../modules/media/pending-uploads.ts'
import * as stores from '../modules/stores/service.ts'
import { describeEvents } from '../modules/webhooks/describe.ts'
import type { LiveCache } from '../platform/live-cache.ts'
import { callerOf } from '../platform/rate-limits.ts'
import { ownToken, type Runtime } from '../runtime.ts'
import { startRoutes } from '../start-page.ts'
import { listDueWork } from './due-work.ts'
import { ERRORS } from './errors.ts'
import { loadEvents } from './events.ts'
import { COUNTED, loadLimits } from './limits.ts'
import { MODULES } from './modules.ts'
import { openStorefrontUrl } from './storefront-url.ts'

/**
 * Builds the whole platform as one HTTP application: every route of every module, under the plane that guards it.
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
  const events = await loadEvents()
  describeApi(app, { webhooks: describeEvents(events), readExamples, errors: ERRORS })
  describePages(app)
  dropAfterWrites(app, cache)
  const readerOf = readerNames(config.TRUST_PROXY, tokenCheck(storefrontTokensOf(runtime)))
  const pace = new ReadPace({
    othersAreAtWork: (store) => database.isShared(store),
    isKnown: (store) => database.isKnown(store),
    readerOf,
  })
  const house = openServing(runtime, app)
  const reads = await Promise.all(MODULES.map((module) => module.liveReads?.(house) ?? []))
  const count = metrics?.countLive ?? null
  answerFromMemory(app, { cache, reads: reads.flat(), logger, count, pace })
  const owners = await openIdentity(house)
  const guards = openGuards(runtime, owners)
  const ofPlane = await loadRoutes({
    ...house,
    owners,
    events,
    readerOf,
    limited: guards.limited,
    counted: COUNTED,
    limitFaces: await loadLimits(),
  })
  shareShapes(app)
  const open = [
    startRoutes({ runtime, hasStorefront }),
    healthRoutes(runtime),
    ...ofPlane('public'),
  ]
  await app.register(publicPlane(pace, database, open))
  for (const plane of ['owner', 'merchant', 'storefront', 'operator'] as const) {
    await app.register(onPlane(plane, guards[plane], ofPlane(plane)))
  }
  return app
}

/** The memory for products of lists, beside the live cache's own, as a share of it. */
const FRAGMENT_SHARE = 1 / 8

/** Opens what a house has in addition while it serves, as far as no guard is needed for it. */
function openServing(runtime: Runtime, app: App) {
  const { config, ports } = runtime
  const { ASSET_BASE_URL, PUBLIC_URL } = config
  const publicUrl = () => PUBLIC_URL ?? app.listeningOrigin
  const fragmentBytes = config.LIVE_CACHE_MB * 1_024 * 1_024 * FRAGMENT_SHARE
  return {
    ...runtime,
    publicUrl,
    storefrontUrl: openStorefrontUrl(config, publicUrl),
    assetBase: ASSET_BASE_URL === '' ? () => null : () => ASSET_BASE_URL ?? publicUrl(),
    pendingUploads: createPendingUploads(config.DATA_DIR),
    fragments: new ProductFragments(fragmentBytes, ports.catalog.readStock),
    // Asked for its times alone: a worker has the events, and sends the mails.
    listDueWork: () => listDueWork({ ...runtime, transport: null, bulk: null }, {}),
  } satisfies House & Partial<ServingHouse>
}

/** Loads the routes of all modules. Returns a function that lists those of a plane. */
async function loadRoutes(house: ServingHouse) {
  const loaded = await Promise.all(MODULES.map((module) => module.routes?.(house)))
  return (plane: Plane) => loaded.flatMap((routes) => routes?.[plane] ?? [])
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
