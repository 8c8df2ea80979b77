import type { Config } from './config.ts'
import { healthRoutes } from './health.ts'
import { logAnswers } from './http/access-log.ts'
import { createGuards, decorateRequests, onPlane } from './http/guards.ts'
import { answerFromMemory } from './http/live.ts'
import { describeApi } from './http/openapi.ts'
import { describePages } from './http/reference.ts'
import type { App } from './http/route.ts'
import { createServer, type ServerOptions } from './http/server.ts'
import * as credentialRoutes from './modules/credentials/routes.ts'
import * as credentials from './modules/credentials/service.ts'
import { createTxtLookup } from './modules/domains/lookup.ts'
import * as domainRoutes from './modules/domains/routes.ts'
import * as entitlementRoutes from './modules/entitlements/routes.ts'
import * as identityRoutes from './modules/identity/routes.ts'
import * as identity from './modules/identity/service.ts'
import * as marketingRoutes from './modules/marketing/routes.ts'
import * as pricingRoutes from './modules/pricing/routes.ts'
import * as siteRoutes from './modules/sites/routes.ts'
import * as storeRoutes from './modules/stores/routes.ts'
import * as stores from './modules/stores/service.ts'
import * as viewRoutes from './modules/views/routes.ts'
import { callerOf } from './platform/limits.ts'
import type { LiveCache } from './platform/live-cache.ts'
import type { Runtime } from './runtime.ts'

/** The whole platform as one HTTP application: every route, under the plane that guards it. */
export async function buildApp(
  runtime: Runtime,
  options: Pick<ServerOptions, 'onUndeclared'> = {},
): Promise<App> {
  const { config, secrets, logger, database, metrics } = runtime
  const operator = runtime.operatorDatabase.global
  const owners = await openIdentity(runtime)
  const app = createServer({
    ...options,
    logger,
    trustProxy: config.TRUST_PROXY,
    onFailure: metrics?.countFailure,
  })
  decorateRequests(app)
  logAnswers(app, metrics?.observe ?? null)
  await describeApi(app)
  describePages(app)

  const { cache, scanner } = runtime
  const preview = { key: runtime.key('preview token'), clock: runtime.clock }
  const domainDeps = openDomains(runtime)
  dropAfterWrites(app, cache)
  answerFromMemory(app, {
    cache,
    reads: siteRoutes.liveReads(cache),
    logger,
    count: metrics?.countLive ?? null,
  })

  const guards = createGuards({
    limits: runtime.limits,
    callerOf,
    database,
    checkKey: (key) => credentials.check(database.global, key),
    checkSession: (token) => identity.check(owners, token),
    requireStore: async (db) => void (await stores.get(db)),
    operatorTokens: [secrets.OPERATOR_TOKEN],
    storefrontTokens: [secrets.STOREFRONT_TOKEN, config.STOREFRONT_TOKEN_PREVIOUS].filter(
      (token) => token !== undefined,
    ),
  })

  await app.register(
    onPlane('public', null, [
      healthRoutes(runtime),
      identityRoutes.publicRoutes(owners, guards.limited),
      siteRoutes.publicRoutes({ database, cache }, preview),
    ]),
  )
  await app.register(
    onPlane('owner', guards.owner, [
      identityRoutes.ownerRoutes(owners, guards.limited),
      credentialRoutes.ownerRoutes(database),
    ]),
  )
  await app.register(
    onPlane('merchant', guards.merchant, [
      viewRoutes.merchantRoutes,
      storeRoutes.merchantRoutes,
      credentialRoutes.merchantRoutes(database),
      entitlementRoutes.merchantRoutes,
      siteRoutes.merchantRoutes(scanner, preview),
      domainRoutes.merchantRoutes(domainDeps),
      marketingRoutes.merchantRoutes,
      pricingRoutes.merchantRoutes,
    ]),
  )
  await app.register(
    onPlane('operator', guards.operator, [
      storeRoutes.operatorRoutes({ database, operator }),
      viewRoutes.operatorRoutes,
      entitlementRoutes.operatorRoutes({ database, operator }),
      siteRoutes.operatorRoutes(scanner),
      domainRoutes.operatorRoutes(domainDeps),
    ]),
  )
  return app
}

/**
 * Whoever has written to a store, or may have, sees it: this process forgets what it kept before it
 * answers. The others learn by notification.
 */
function dropAfterWrites(app: App, cache: LiveCache): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (!reads && request.db) cache.drop(request.db.tenant)
    done()
  })
}

function openDomains({ config, limits }: Runtime): domainRoutes.DomainDeps {
  const platformHost = config.PUBLIC_URL ? new URL(config.PUBLIC_URL).hostname : config.HOST
  return { limits, platformHost, findTxt: createTxtLookup(config.DNS_SERVERS) }
}

export async function openIdentity(runtime: Runtime): Promise<identity.Identity> {
  const { config, database, clock, limits, key } = runtime
  return {
    db: database.global,
    clock,
    limits,
    verificationKey: key('email verification'),
    verification: config.IDENTITY_EMAIL_VERIFICATION,
    checkVouched: await openVouchedCheck(config),
  }
}

/** Loaded only where an external provider is trusted: most installations never need it. */
async function openVouchedCheck(config: Config) {
  const { IDENTITY_JWKS_URL, IDENTITY_ISSUER, IDENTITY_AUDIENCE } = config
  if (!IDENTITY_JWKS_URL || !IDENTITY_ISSUER || !IDENTITY_AUDIENCE) return null
  const { createVouchedCheck } = await import('./modules/identity/external.ts')
  return createVouchedCheck({
    jwksUrl: IDENTITY_JWKS_URL,
    issuer: IDENTITY_ISSUER,
    audience: IDENTITY_AUDIENCE,
  })
}
