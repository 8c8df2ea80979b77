import { loadCustomerData } from './compose/customer-data.ts'
import { loadEvents } from './compose/events.ts'
import { COUNTED, loadLimits } from './compose/limits.ts'
import type { Config } from './config.ts'
import type { App } from './http/route.ts'
import { hostSubject } from './kernel/hostname.ts'
import type * as affiliateRoutes from './modules/affiliates/routes.ts'
import type * as affiliatePages from './modules/affiliates/storefront-routes.ts'
import type * as domainRoutes from './modules/domains/routes.ts'
import { findTenantByHostname } from './modules/domains/service.ts'
import { createTxtLookup } from './modules/domains/txt-lookup.ts'
import { codeKeys } from './modules/gift-cards/card-code.ts'
import type * as giftCardRoutes from './modules/gift-cards/routes.ts'
import type { Identity } from './modules/identity/deps.ts'
import { createPendingUploads } from './modules/media/pending-uploads.ts'
import type * as mediaRoutes from './modules/media/routes.ts'
import type { LinkDeps } from './modules/order-links/service.ts'
import type * as privacyRoutes from './modules/privacy/routes.ts'
import { openProviderEvents } from './modules/provider-events/service.ts'
import { type LookDeps, loadStoreLook, writeBranded } from './modules/sites/mail-look.ts'
import { openCampaigns } from './open-campaigns.ts'
import { openCheckout } from './open-checkout.ts'
import { openShopperMail } from './open-shopper-mail.ts'
import { openUnsubscribe } from './open-unsubscribe.ts'
import type { Runtime } from './runtime.ts'
import { openStorefrontUrl } from './storefront-url.ts'

/** Opens what the routes of the modules depend on. */
export async function openDeps(runtime: Runtime, app: App) {
  const { config, database, clock, key, limits, safeFetch } = runtime
  const assetBase = assetBaseOf(app, config)
  const media = openMedia(runtime, assetBase)
  const storefrontUrl = openStorefrontUrl(config, () => config.PUBLIC_URL ?? app.listeningOrigin)
  const look = { storefrontUrl, assetBase: config.ASSET_BASE_URL || config.PUBLIC_URL || null }
  return {
    owners: await openIdentity(runtime, () => config.PUBLIC_URL ?? app.listeningOrigin),
    preview: { key: key('preview token'), clock },
    domains: openDomains(runtime),
    giftCards: openGiftCards(runtime),
    webhooks: { key: key('webhook secret'), fetch: safeFetch, limits, events: await loadEvents() },
    providerEvents: openProviderEvents({ database, clock, key: key('gateway signing key') }),
    checkout: openCheckout(runtime),
    orderLinks: openOrderLinks(runtime, look),
    subscriptionLinks: { key: key('subscription link') },
    newsletter: {
      ...openNewsletter(runtime, () => config.PUBLIC_URL ?? app.listeningOrigin),
      ...look,
    },
    shopperMail: { ...openShopperMail(runtime), limits },
    campaigns: {
      ...openCampaigns(runtime, () => config.PUBLIC_URL ?? app.listeningOrigin),
      limits,
      idempotencyKey: key('idempotency fingerprint'),
    },
    media,
    catalog: { assetBase },
    feeds: { assetBase, storefrontUrl },
    affiliates: openAffiliates(runtime, look),
    privacy: openPrivacy(runtime),
    limits: {
      counted: COUNTED,
      limits: await loadLimits(),
      mediaBytesMax: media.bytesPerStore,
    },
  }
}

export type Deps = Awaited<ReturnType<typeof openDeps>>

/** Returns the base of `image_url`: null where the operator wants none. The default is known once we listen. */
function assetBaseOf(app: App, { ASSET_BASE_URL, PUBLIC_URL }: Config): () => string | null {
  if (ASSET_BASE_URL === '') return () => null
  return () => ASSET_BASE_URL ?? PUBLIC_URL ?? app.listeningOrigin
}

function openDomains({ config, limits, cache }: Runtime): domainRoutes.DomainDeps {
  const platformHost = config.PUBLIC_URL ? new URL(config.PUBLIC_URL).hostname : config.HOST
  return {
    limits,
    platformHost,
    findTxt: createTxtLookup(config.DNS_SERVERS),
    asksForTls: config.TLS_FRONT === 'on_demand',
    forgetHost: (hostname) => cache.drop(hostSubject(hostname)),
  }
}

/** Links lead only to the hosts of a store: its own hosts, and its name in the zone of the storefront. */
const openOrderLinks = ({ config, key, limits }: Runtime, look: LookDeps): LinkDeps => ({
  ...look,
  key: key('order link'),
  limits,
  async originAt(db, hostname) {
    const isInZone = hostname === `${db.tenant}.${config.storefrontZone}`
    const isOwn = isInZone || (await findTenantByHostname(db, hostname)) === db.tenant
    if (!isOwn) return null
    return look.storefrontUrl({
      tenant_ref: db.tenant,
      primary_hostname: isInZone ? null : hostname,
    })
  },
})

const openNewsletter = (runtime: Runtime, publicUrl: () => string) => ({
  ...openUnsubscribe(runtime, publicUrl),
  key: runtime.key('newsletter'),
  limits: runtime.limits,
})

const openAffiliates = (
  { key, limits }: Runtime,
  look: LookDeps,
): affiliateRoutes.AffiliateDeps & Parameters<typeof affiliatePages.storefrontRoutes>[0] => ({
  keys: { account: key('affiliate account') },
  linkKey: key('affiliate link'),
  touchKey: key('referral touch'),
  confirmKey: key('erasure confirmation'),
  idempotencyKey: key('idempotency fingerprint'),
  storefrontUrl: look.storefrontUrl,
  writeMail: async (db, store, { language, subject, blocks }) =>
    writeBranded(
      { language, store: await loadStoreLook(look, db, store) },
      { subject, reference: null, heading: subject, blocks, footer: [] },
    ),
  limits,
})

const openPrivacy = ({ key, clock }: Runtime): privacyRoutes.PrivacyDeps => ({
  customersKey: key('customers'),
  confirmKey: key('erasure confirmation'),
  loadCustomerData,
  exportKey: key('privacy export'),
  idempotencyKey: key('idempotency fingerprint'),
  clock,
})

const openGiftCards = ({ key, limits }: Runtime): giftCardRoutes.GiftCardDeps => ({
  keys: codeKeys(key),
  idempotencyKey: key('idempotency fingerprint'),
  limits,
})

export function openMedia(
  { config, blobs, images }: Runtime,
  assetBase: () => string | null,
): mediaRoutes.MediaRouteDeps {
  return {
    blobs,
    images,
    bytesPerStore: config.MEDIA_MB_PER_STORE * 1_024 * 1_024,
    assetBase,
    pendingUploads: createPendingUploads(config.DATA_DIR),
  }
}

/**
 * Opens the deps of the identity module. `origin` returns the address of the platform's pages, which is known once it
 * listens.
 */
export async function openIdentity(runtime: Runtime, origin: () => string): Promise<Identity> {
  const { config, database, clock, limits, key } = runtime
  return {
    db: database.directory,
    clock,
    limits,
    verificationKey: key('email verification'),
    resetKey: key('password reset'),
    pageUrl: (path) => new URL(path, origin()).href,
    verification: config.IDENTITY_EMAIL_VERIFICATION,
    saltKey: key('password salts'),
    perMinute: { logIns: config.RATE_LIMIT_LOGINS_PER_MINUTE },
    perHour: {
      signUps: config.RATE_LIMIT_SIGNUPS_PER_HOUR,
      wrongPasswords: config.RATE_LIMIT_WRONG_PASSWORDS_PER_HOUR,
    },
    checkExternal: await openExternalCheck(config),
  }
}

/**
 * Opens the check of an external identity provider. It is loaded only where one is trusted: most installations never
 * need it.
 */
async function openExternalCheck(config: Config) {
  const { IDENTITY_JWKS_URL, IDENTITY_ISSUER, IDENTITY_AUDIENCE } = config
  if (!IDENTITY_JWKS_URL || !IDENTITY_ISSUER || !IDENTITY_AUDIENCE) return null
  const { createExternalCheck } = await import('./modules/identity/external-tokens.ts')
  return createExternalCheck({
    jwksUrl: IDENTITY_JWKS_URL,
    issuer: IDENTITY_ISSUER,
    audience: IDENTITY_AUDIENCE,
  })
}
