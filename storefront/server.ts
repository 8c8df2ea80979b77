import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { unpackDevice, unpackReferral } from './affiliates/referral.ts'
import { referralCookies } from './affiliates/referral-cookies.ts'
import {
  isUnknownStore,
  openPlatformClient,
  type PlatformClient,
  PlatformError,
} from './api/platform-client.ts'
import { forShopper } from './api/shopper-address.ts'
import { openStoreApi, type StoreApi } from './api/store-api.ts'
import { emptyCart, unpackCart } from './cart/cart.ts'
import { EXPRESS_PATH } from './checkout/express.ts'
import { isAssetPath, proxyAsset } from './http/asset-proxy.ts'
import { type Cookies, openCookies } from './http/cookies.ts'
import { feedOf, openFeed } from './http/feed-proxy.ts'
import { isSameOrigin, readForm } from './http/forms.ts'
import { type HttpResponse, redirect, securityHeaders, sendResponse } from './http/response.ts'
import { fileResponse, openStaticFiles, type StaticFiles } from './http/static-files.ts'
import {
  formRejectedPage,
  outagePage,
  previewEndedPage,
  storeNotFoundPage,
  type UnsentForm,
} from './layout/error-pages.ts'
import type { RequestContext } from './request-context.ts'
import { showPage, submitForm } from './routes.ts'
import { readConfirmed } from './shopper/confirmed-order.ts'
import { unpackAddress } from './shopper/remembered-address.ts'
import { unpackOpened, unpackShopper } from './shopper/shopper.ts'
import type { Site } from './site/site.ts'
import { getAcceptedLocale, type Locale } from './translations/locale.ts'

export interface Log {
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export interface StorefrontOptions {
  /** The address of the platform. */
  platformUrl(): string
  /** The storefront token. It also signs cookies. */
  token: string
  /**
   * Sent to the platform in place of the token. The platform knows by it the storefront of its own
   * process.
   */
  platformToken?: string | undefined
  /** The previous token, which is also accepted on cookies while storefronts move to a new one. */
  previousToken?: string | undefined
  /** Stores answer at `<tenant>.<zone>`, too. Null: only at their own hosts. */
  zone: string | null
  /** Whether shoppers connect over https. */
  secure: boolean
  /** The base URL of images; null if the store's own host serves them. */
  assetBaseUrl: string | null
  /** How long a read of the platform may take. For tests, which run on busy machines. */
  readMs?: number | undefined
  /** The IP address of the shopper, behind any trusted proxies. */
  ipOf(request: IncomingMessage): string | null
  log: Log
}

export interface Storefront {
  listener: RequestListener
  close(): Promise<void>
}

interface Deps extends StorefrontOptions {
  client: PlatformClient
  api: StoreApi
  files: StaticFiles
  cookies: Cookies
  /** Headers of every response. */
  common: Record<string, string>
}

/** Creates the storefront of all stores of a platform. It has no storage of its own. */
export function createStorefront(options: StorefrontOptions): Storefront {
  const { platformUrl: url, token, platformToken = token, previousToken, readMs } = options
  const client = openPlatformClient({ url, token: platformToken, readMs })
  const secrets = [token, previousToken].filter((each) => each !== undefined)
  const deps: Deps = {
    ...options,
    client,
    api: openStoreApi({ client, zone: options.zone }),
    files: openStaticFiles(),
    cookies: openCookies(secrets, options.secure),
    common: securityHeaders(options.assetBaseUrl),
  }
  return {
    listener: (request, response) =>
      void forShopper(options.ipOf(request), () => serve(deps, request, response)),
    close: async () => {
      await deps.api.flushEvents()
      await client.close()
    },
  }
}

async function serve(deps: Deps, request: IncomingMessage, response: ServerResponse) {
  try {
    const url = readUrl(request)
    if (url !== null && isAssetPath(url.pathname)) {
      await proxyAsset(deps.client, deps.common, { request, response, url })
    } else {
      await sendResponse(request, response, await respond(deps, request, url), deps.common)
    }
  } catch (error) {
    sendError(deps, request, response, error)
  }
}

/** Reads the address of a request. Returns null for one that is not a path of this host. */
function readUrl({ url = '/', headers }: IncomingMessage): URL | null {
  const base = `http://${headers.host ?? 'localhost'}`
  // URL parsers read a backslash as a slash: two of them would begin the name of another host.
  return /^\/(?!\/)[^\\]*$/.test(url) ? URL.parse(url, base) : null
}

function sendError(deps: Deps, request: IncomingMessage, response: ServerResponse, error: unknown) {
  const isClosed = isUnknownStore(error)
  const fields = { err: error, method: request.method, outage: error instanceof PlatformError }
  if (!isClosed) deps.log.error(fields, 'a page could not be shown')
  // A page that has begun cannot be replaced. The browser must notice that it is not complete.
  if (response.headersSent) return void response.destroy()
  const answer = isClosed
    ? storeNotFound(deps, request)
    : outage(deps, error, acceptedLocale(request))
  void sendResponse(request, response, answer, deps.common)
}

/** The answer for an unknown store, and for one that was closed a moment ago, while its site is still cached. */
const storeNotFound = ({ files }: Deps, request: IncomingMessage): HttpResponse => ({
  status: 404,
  body: storeNotFoundPage(files.pathsFor(null), acceptedLocale(request)),
  headers: { 'cache-control': 'no-store' },
})

function outage(
  { files }: Deps,
  error: unknown,
  locale: Locale,
  unsent: UnsentForm | null = null,
): HttpResponse {
  const after = error instanceof PlatformError ? error.retryAfterSeconds : null
  return {
    status: 503,
    body: outagePage(files.pathsFor(null), locale, unsent),
    headers: { 'retry-after': String(after ?? 5), 'cache-control': 'no-store' },
  }
}

/** The locale for pages that belong to no store. */
const acceptedLocale = ({ headers }: IncomingMessage): Locale =>
  getAcceptedLocale(headers['accept-language'])

async function respond(
  deps: Deps,
  request: IncomingMessage,
  url: URL | null,
): Promise<HttpResponse> {
  if (url === null) return { status: 400, body: 'Bad request', type: 'text/plain' }
  const file = deps.files.find(url.pathname)
  if (file !== null) return fileResponse(request, file)
  const found = await findSite(deps, request, url)
  if ('status' in found) return found
  const { site, cookies } = found
  const styled = deps.files.findFor(url.pathname, site)
  if (styled !== null) return fileResponse(request, styled.file, styled.isExact)
  if (site.redirect !== null && site.preview === null) {
    const location = `${site.redirect}${url.pathname}${url.search}`
    // A browser must not cache it: the store's main host may change.
    return { status: 308, body: '', headers: { location, 'cache-control': 'no-store' } }
  }
  const feed = site.preview === null ? feedOf(request, url.pathname) : null
  if (feed !== null) return openFeed(deps.client, request, site, feed)
  const context = contextOf(deps, request, url, site)
  const isReferred = request.method === 'GET' && paramOf(url, 'ref') !== null
  const referral = isReferred ? referralCookies(context) : []
  const answer = await dispatch(deps, request, context)
  const isPreview = site.preview !== null
  const mayKeep = !isPreview && answer.headers?.['cache-control'] === undefined
  return {
    ...answer,
    headers: {
      'cache-control': mayKeep ? 'private, no-cache' : 'no-store',
      ...(isPreview ? { 'x-robots-tag': 'noindex' } : {}),
      ...answer.headers,
    },
    cookies: [...cookies, ...(await referral), ...(answer.cookies ?? [])],
  }
}

/** Reads a parameter of an address. Most addresses have none: nothing is parsed for them. */
const paramOf = (url: URL, name: string): string | null =>
  url.search === '' ? null : url.searchParams.get(name)

const hostOf = ({ headers }: IncomingMessage): string =>
  (headers.host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')

type FoundSite = { site: Site; cookies: string[] }

const PREVIEW_SECONDS = 1_800

/** Finds the site by the preview token, from the address or the cookie; else by the host. */
async function findSite(
  deps: Deps,
  request: IncomingMessage,
  url: URL,
): Promise<FoundSite | HttpResponse> {
  const { api, cookies, files } = deps
  const host = hostOf(request)
  const given = paramOf(url, 'preview')
  const token = given ?? cookies.readPlain(request.headers.cookie, 'preview')
  // The link that leaves a preview.
  if (given === '') return redirect('/', [cookies.clear('preview')])
  if (token) {
    const site = await api.findPreview(host, token)
    if (site !== null) {
      return { site, cookies: [cookies.writePlain('preview', token, PREVIEW_SECONDS)] }
    }
    const body = previewEndedPage(files.pathsFor(null), acceptedLocale(request))
    const headers = { 'cache-control': 'no-store' }
    return { status: 404, body, headers, cookies: [cookies.clear('preview')] }
  }
  const site = api.peekSite(host) ?? (await api.findSite(host))
  return site === null ? storeNotFound(deps, request) : { site, cookies: [] }
}

function contextOf(deps: Deps, request: IncomingMessage, url: URL, site: Site): RequestContext {
  const { api, files, cookies, assetBaseUrl, log, secure, ipOf } = deps
  const { cookie } = request.headers
  const host = site.canonicalHostname ?? url.host
  const cart = cookie === undefined ? null : cookies.read(cookie, 'cart', site.tenant)
  return {
    site,
    api,
    url,
    cookies,
    assetBaseUrl,
    origin: `${secure ? 'https' : 'http'}://${host}`,
    cart: cart === null ? emptyCart() : unpackCart(cart),
    // Read only where it is used: most pages are the same for every shopper.
    get shopper() {
      return unpackShopper(cookies.read(cookie, 'shopper', site.tenant))
    },
    get opened() {
      return unpackOpened(cookies.read(cookie, 'opened', site.tenant))
    },
    get remembered() {
      const packed = site.hasAccounts ? cookies.readEncrypted(cookie, 'address', site.tenant) : null
      return unpackAddress(packed)
    },
    get confirmed() {
      return readConfirmed(cookies, cookie, site.tenant)
    },
    get express() {
      const packed = cookies.read(cookie, 'express', site.tenant)
      return packed === null ? null : unpackCart(packed)
    },
    get referral() {
      return unpackReferral(cookies.read(cookie, 'ref', site.tenant))
    },
    get device() {
      return unpackDevice(cookies.read(cookie, 'partner', site.tenant))
    },
    otherCart: null,
    files: files.pathsFor(site),
    get ip() {
      return ipOf(request)
    },
    isFromScript: request.headers['x-storefront-script'] === '1',
    warn: (fields, message) => log.warn(fields, message),
  }
}

/** Shows a page or accepts a form. A form that meets an outage is answered with its own fields. */
async function dispatch(
  deps: Deps,
  request: IncomingMessage,
  context: RequestContext,
): Promise<HttpResponse> {
  const { locale } = context.site
  const reject = (status: number, headers: Record<string, string> = {}): HttpResponse => ({
    status,
    headers: { ...headers, 'cache-control': 'no-store' },
    body: formRejectedPage(deps.files.pathsFor(null), locale),
  })
  if (request.method === 'GET' || request.method === 'HEAD') return showPage(context)
  if (request.method !== 'POST') return reject(405, { allow: 'GET, HEAD, POST' })
  if (!isSameOrigin(request)) return reject(403)
  const form = await readForm(request)
  if (form === null) return reject(400)
  try {
    return await submitForm(context, form)
  } catch (error) {
    if (!(error instanceof PlatformError) || isUnknownStore(error)) throw error
    const path = context.url.pathname
    deps.log.error({ err: error, path }, 'a form could not be accepted')
    return outage(deps, error, locale, unsentForm(path, form))
  }
}

const PAYMENTS = ['/checkout', EXPRESS_PATH]

/**
 * The form that can be sent again after an outage. A payment is not sent again at once: its form is
 * shown first, because the card must be entered again.
 */
const unsentForm = (path: string, form: URLSearchParams): UnsentForm => ({
  action: PAYMENTS.includes(path) ? `${path}/update` : path,
  fields: [...form].filter(([name]) => !name.startsWith('card_') && name !== 'key'),
})
