import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Answer, isOwnForm, readForm, redirect, SECURITY, send } from './answer.ts'
import { emptyCart, unpackCart, unpackShopper } from './cart.ts'
import { type Cookies, openCookies } from './cookies.ts'
import { type Files, openFiles } from './files.ts'
import { fileAnswer, handThrough } from './hand-out.ts'
import type { TillVisit } from './kept.ts'
import { refundOrder } from './order-refunds.ts'
import * as orders from './orders.ts'
import { notAvailable, notOurs, outOfOrder, previewOver, type Unsent } from './pages/notices.ts'
import { pay, updateCheckout } from './pay.ts'
import { isClosed, openPlatform, type Platform, PlatformError } from './platform.ts'
import * as reads from './reads.ts'
import { openShop, type Shop } from './shop.ts'
import type { Site } from './site.ts'
import * as till from './till.ts'
import { unlessWaiting } from './waiting.ts'
import { type Words, wordsFor } from './words.ts'

export interface Log {
  info(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export interface StorefrontOptions {
  /** Where the platform is. */
  platformUrl(): string
  token: string
  /** Shown to the platform in place of the token, where it knows its own storefront by it. */
  platformToken?: string | undefined
  /** Signs cookies beside the token: the one before it, while storefronts move to the new one. */
  tokenBefore?: string | undefined
  /** Stores answer at `<tenant>.<zone>` too; null: only at hosts of their own. */
  zone: string | null
  /** Whether shoppers come by https. */
  secure: boolean
  /** Where pictures are, when that is not the store's own host. */
  cdn: string | null
  /** The caller's own address, behind whatever proxies are trusted. */
  ipOf(request: IncomingMessage): string | null
  log: Log
}

export interface Storefront {
  listener: RequestListener
  close(): Promise<void>
}

interface Deps extends StorefrontOptions {
  platform: Platform
  shop: Shop
  files: Files
  cookies: Cookies
  common: Record<string, string>
}

/** Every store of a platform, as pages. It keeps nothing but what it can ask for again. */
export function createStorefront(options: StorefrontOptions): Storefront {
  const { platformUrl: url, token, platformToken = token } = options
  const platform = openPlatform({ url, token: platformToken })
  const secrets = [token, options.tokenBefore].filter((each) => each !== undefined)
  const deps: Deps = {
    ...options,
    platform,
    shop: openShop({ platform, zone: options.zone }),
    files: openFiles(),
    cookies: openCookies(secrets, options.secure),
    common: SECURITY(options.cdn),
  }
  return {
    listener: (request, response) => void serve(deps, request, response),
    close: () => platform.close(),
  }
}

async function serve(deps: Deps, request: IncomingMessage, response: ServerResponse) {
  try {
    const answer = await answerTo(deps, request, response)
    if (answer !== null) await send(request, response, answer, deps.common)
  } catch (error) {
    fail(deps, request, response, error)
  }
}

function fail(deps: Deps, request: IncomingMessage, response: ServerResponse, error: unknown) {
  const isOutage = error instanceof PlatformError
  const fields = { err: error, method: request.method, outage: isOutage }
  if (!isClosed(error)) deps.log.error(fields, 'a page could not be shown')
  // A page that was begun cannot be taken back: the browser must see that it is not whole.
  if (response.headersSent) return void response.destroy()
  const answer = isClosed(error)
    ? closed(deps, request)
    : outage(deps, error, visitorWords(request), null)
  void send(request, response, answer, deps.common)
}

/** Also of a store that was closed a moment ago, and whose site is still remembered. */
const closed = ({ files }: Deps, request: IncomingMessage): Answer => ({
  status: 404,
  body: notAvailable(files.of(null), visitorWords(request)),
  headers: { 'cache-control': 'no-store' },
})

/** For pages that belong to no store. */
const visitorWords = ({ headers }: IncomingMessage): Words => wordsFor(headers['accept-language'])

const hostOf = ({ headers }: IncomingMessage): string =>
  (headers.host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')

async function answerTo(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer | null> {
  const url = readUrl(request)
  if (url === null) return { status: 400, body: 'Bad request', type: 'text/plain' }
  const file = deps.files.find(url.pathname)
  if (file !== null) return fileAnswer(request, file)
  if (ASSET.test(url.pathname)) {
    return handThrough(deps.platform, deps.common, { request, response, url })
  }
  const found = await findSite(deps, request, url)
  if ('status' in found) return found
  const { site, cookies } = found
  const styled = deps.files.findFor(url.pathname, site)
  if (styled !== null) return fileAnswer(request, styled.file, styled.isAsked)
  if (site.redirect !== null && site.preview === null) {
    const location = `${site.redirect}${url.pathname}${url.search}`
    // For now: a browser that kept it would not hear of the store's next host.
    return { status: 308, body: '', headers: { location, 'cache-control': 'no-store' } }
  }
  const answer = await route(deps, request, url, site)
  const isKept = site.preview === null && answer.headers?.['cache-control'] === undefined
  const policy = isKept ? 'private, no-cache' : 'no-store'
  const hidden = site.preview === null ? {} : { 'x-robots-tag': 'noindex' }
  return {
    ...answer,
    headers: { 'cache-control': policy, ...hidden, ...answer.headers },
    cookies: [...cookies, ...(answer.cookies ?? [])],
  }
}

/** A picture of a store. Nothing else of the platform is reached through here. */
const ASSET = /^\/stores\/[a-z0-9-]{3,63}\/assets\/[\w.-]{1,200}$/

function readUrl({ url = '/', headers }: IncomingMessage): URL | null {
  const base = `http://${headers.host ?? 'localhost'}`
  // A backslash is as good as a slash to who parses addresses: two of them would name another host.
  if (!/^\/(?!\/)[^\\]*$/.test(url) || !URL.canParse(url, base)) return null
  return new URL(url, base)
}

type FoundSite = { site: Site; cookies: string[] }

const PREVIEW_SECONDS = 1_800

/** By the preview somebody was given, else by the host. */
async function findSite(
  deps: Deps,
  request: IncomingMessage,
  url: URL,
): Promise<FoundSite | Answer> {
  const { shop, cookies, files } = deps
  const host = hostOf(request)
  const given = url.searchParams.get('preview')
  const token = given ?? cookies.readPlain(request.headers.cookie, 'preview')
  if (given === '') return redirect('/', [cookies.clear('preview')])
  if (token) {
    const site = await shop.findPreview(host, token)
    if (site !== null) {
      return { site, cookies: [cookies.writePlain('preview', token, PREVIEW_SECONDS)] }
    }
    const body = previewOver(files.of(null), visitorWords(request))
    const headers = { 'cache-control': 'no-store' }
    return { status: 404, body, headers, cookies: [cookies.clear('preview')] }
  }
  const site = shop.peekSite(host) ?? (await shop.findSite(host))
  return site === null ? closed(deps, request) : { site, cookies: [] }
}

async function route(deps: Deps, request: IncomingMessage, url: URL, site: Site): Promise<Answer> {
  const visit = visitOf(deps, request, url, site)
  const { words } = site
  const refuse = (status: number, headers: Record<string, string> = {}): Answer => ({
    status,
    headers: { ...headers, 'cache-control': 'no-store' },
    body: notOurs(deps.files.of(null), words),
  })
  if (request.method === 'GET' || request.method === 'HEAD') return read(visit)
  if (request.method !== 'POST') return refuse(405, { allow: 'GET, HEAD, POST' })
  if (!isOwnForm(request)) return refuse(403)
  const form = await readForm(request)
  if (form === null) return refuse(400)
  try {
    return await write(visit, form)
  } catch (error) {
    if (!(error instanceof PlatformError) || isClosed(error)) throw error
    deps.log.error({ err: error, path: url.pathname }, 'a form could not be taken')
    return outage(deps, error, words, unsentOf(url.pathname, form))
  }
}

/** What was typed, to be sent again. A payment is not: its form is shown first, and asks for the card. */
const unsentOf = (path: string, form: URLSearchParams): Unsent => ({
  action: path === '/checkout' ? '/checkout/update' : path,
  fields: [...form].filter(([name]) => !name.startsWith('card_') && name !== 'key'),
})

function outage(deps: Deps, error: unknown, words: Words, unsent: Unsent | null): Answer {
  const after = error instanceof PlatformError ? error.retryAfterSeconds : null
  const headers = { 'retry-after': String(after ?? 5), 'cache-control': 'no-store' }
  return { status: 503, body: outOfOrder(deps.files.of(null), words, unsent), headers }
}

function visitOf(deps: Deps, request: IncomingMessage, url: URL, site: Site): TillVisit {
  const { shop, files, cookies, cdn, log, secure, ipOf } = deps
  const { cookie } = request.headers
  const host = site.canonicalHostname ?? url.host
  const cart = cookie === undefined ? null : cookies.read(cookie, 'cart', site.tenant)
  return {
    site,
    shop,
    url,
    cookies,
    cdn,
    origin: `${secure ? 'https' : 'http'}://${host}`,
    cart: cart === null ? emptyCart() : unpackCart(cart),
    // Read where it is asked for: most pages do not care who looks at them.
    get shopper() {
      return unpackShopper(cookies.read(cookie, 'shopper', site.tenant))
    },
    files: files.of(site),
    ip: request.method === 'POST' ? ipOf(request) : null,
    isQuiet: request.headers['x-shop'] === '1',
    note: (fields, message) => log.info(fields, message),
  }
}

const PAGES: Record<string, (visit: TillVisit) => Promise<Answer>> = {
  '/': reads.home,
  '/products': reads.products,
  '/collections': reads.collections,
  '/search': reads.search,
  '/cart': till.cartPage,
  '/checkout': unlessWaiting((visit) => till.checkoutPage(visit)),
  '/orders': reads.orders,
  '/sitemap.xml': reads.siteMap,
  '/robots.txt': reads.robotsText,
}

const NAMED = /^\/(products|collections|orders)\/([^/]{1,600})$/

async function read(visit: TillVisit): Promise<Answer> {
  const { pathname } = visit.url
  const page = Object.hasOwn(PAGES, pathname) ? PAGES[pathname] : undefined
  if (page !== undefined) return page(visit)
  const [, kind, encoded = ''] = NAMED.exec(pathname) ?? []
  const name = decode(encoded)
  if (name === null || kind === undefined) return reads.notFound(visit)
  if (kind === 'products') return reads.product(visit, name)
  if (kind === 'collections') return reads.collection(visit, name)
  return orders.orderPage(visit, name)
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const FORMS: Record<string, (visit: TillVisit, form: URLSearchParams) => Promise<Answer>> = {
  '/cart': till.updateCart,
  '/cart/add': till.addToCart,
  '/checkout': unlessWaiting(pay),
  '/checkout/update': unlessWaiting(updateCheckout),
}

const DEED = /^\/orders\/([0-9a-f-]{36})\/(cancel|edit|refund)$/

async function write(visit: TillVisit, form: URLSearchParams): Promise<Answer> {
  const { pathname } = visit.url
  // A draft is looked at; nothing is bought from it.
  if (visit.site.preview !== null) return redirect('/')
  const deed = Object.hasOwn(FORMS, pathname) ? FORMS[pathname] : undefined
  if (deed !== undefined) return deed(visit, form)
  const [, id, verb] = DEED.exec(pathname) ?? []
  if (id === undefined) return reads.notFound(visit)
  if (verb === 'cancel') return orders.cancelOrder(visit, id, form)
  return verb === 'edit' ? orders.editOrder(visit, id, form) : refundOrder(visit, id, form)
}
