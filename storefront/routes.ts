import { affiliatePage, applyAsAffiliate, applyPage } from './affiliates/affiliate-pages.ts'
import { addToCart, cartPage, updateCart } from './cart/cart-pages.ts'
import * as catalog from './catalog/catalog-pages.ts'
import { contentPage } from './catalog/content-page.ts'
import { askForNewsletter, newsletterPage } from './catalog/newsletter.ts'
import { suggestionList } from './catalog/suggestions.ts'
import { checkoutPage, forgetAddress, updateCheckout } from './checkout/checkout-pages.ts'
import { EXPRESS_PATH, express } from './checkout/express.ts'
import { pay } from './checkout/payment.ts'
import { unlessPending } from './checkout/pending-payment.ts'
import { type HttpResponse, redirect } from './http/response.ts'
import { notFoundPage } from './layout/page.ts'
import { findOrderAgain, openOrderLink } from './orders/find-order.ts'
import { cancelOrder, editOrder } from './orders/order-actions.ts'
import { orderListPage, orderPage } from './orders/order-pages.ts'
import { payOrder } from './orders/order-payment.ts'
import { refundOrder } from './orders/order-refunds.ts'
import { returnOrder } from './orders/order-returns.ts'
import type { RequestContext } from './request-context.ts'
import { changeSubscription, SUBSCRIPTION_ACTIONS } from './subscriptions/subscription-actions.ts'
import {
  addressPage,
  cardPage,
  openSubscriptionLink,
  subscriptionListPage,
  subscriptionPage,
} from './subscriptions/subscription-pages.ts'

/** Every path of a store, and the handler that answers it. */

type PageHandler = (context: RequestContext) => Promise<HttpResponse>
type FormHandler = (context: RequestContext, form: URLSearchParams) => Promise<HttpResponse>

const PAGES: Record<string, PageHandler> = {
  '/': catalog.homePage,
  '/products': catalog.productsPage,
  '/collections': catalog.collectionsPage,
  '/search': catalog.searchPage,
  '/search/suggest': suggestionList,
  '/recently-seen': catalog.seenProducts,
  '/cart': cartPage,
  '/checkout': unlessPending((context) => checkoutPage(context)),
  [EXPRESS_PATH]: unlessPending(express((context) => checkoutPage(context))),
  '/orders': (context) => orderListPage(context),
  '/subscriptions': subscriptionListPage,
  '/newsletter': (context) => newsletterPage(context),
  '/affiliates': (context) => applyPage(context),
  '/sitemap.xml': catalog.sitemap,
  '/robots.txt': catalog.robots,
  '/llms.txt': catalog.llms,
}

/** A part of a large sitemap. */
const SITEMAP_PART = /^\/sitemap-([1-9]\d{0,4})\.xml$/

/** Pages of one product, one collection or one order, and content pages. */
const NAMED_PAGE = /^\/(products|collections|orders|pages)\/([^/]{1,600})$/

/** A mailed link to an order. */
const ORDER_LINK = /^\/orders\/link\/([\w-]{1,500})$/

/** A mailed link to a subscription, and the pages of one. */
const SUBSCRIPTION_LINK = /^\/subscriptions\/link\/([\w-]{1,500})$/
const SUBSCRIPTION_PAGE = /^\/subscriptions\/([0-9a-f-]{36})(?:\/(card|address))?$/

/** The signed link to the page of an affiliate. */
const AFFILIATE_LINK = /^\/affiliates\/link\/([\w-]{1,500})$/

const FORMS: Record<string, FormHandler> = {
  '/cart': updateCart,
  '/cart/add': addToCart,
  '/checkout': unlessPending(pay),
  '/checkout/update': unlessPending(updateCheckout),
  '/checkout/forget': forgetAddress,
  [EXPRESS_PATH]: unlessPending(express(pay)),
  [`${EXPRESS_PATH}/update`]: unlessPending(express(updateCheckout)),
  [`${EXPRESS_PATH}/forget`]: express(forgetAddress),
  '/orders/find': findOrderAgain,
  '/newsletter': askForNewsletter,
  '/affiliates': applyAsAffiliate,
}

const ORDER_ACTION = /^\/orders\/([0-9a-f-]{36})\/(cancel|edit|pay|refund|return)$/

const SUBSCRIPTION_ACTION = new RegExp(
  `^/subscriptions/([0-9a-f-]{36})/(${SUBSCRIPTION_ACTIONS.join('|')})$`,
)

/** Answers a GET or HEAD request. */
export async function showPage(context: RequestContext): Promise<HttpResponse> {
  const { pathname } = context.url
  const handler = Object.hasOwn(PAGES, pathname) ? PAGES[pathname] : undefined
  if (handler !== undefined) return handler(context)
  const [, part] = SITEMAP_PART.exec(pathname) ?? []
  if (part !== undefined) return catalog.sitemapPart(context, Number(part))
  const [, token] = ORDER_LINK.exec(pathname) ?? []
  if (token !== undefined) return openOrderLink(context, token)
  const [, affiliate] = AFFILIATE_LINK.exec(pathname) ?? []
  if (affiliate !== undefined) return affiliatePage(context, affiliate)
  const subscription = showSubscription(context, pathname)
  if (subscription !== null) return subscription
  const [, kind, encoded = ''] = NAMED_PAGE.exec(pathname) ?? []
  const name = decodeName(encoded)
  if (name === null || kind === undefined) return notFoundPage(context)
  if (kind === 'products') return catalog.productPage(context, name)
  if (kind === 'pages') return contentPage(context, name)
  if (kind === 'collections') return catalog.collectionPage(context, name)
  return orderPage(context, name)
}

/** Shows a page of a subscription. Returns null for any other path. */
function showSubscription(context: RequestContext, pathname: string): Promise<HttpResponse> | null {
  const [, token] = SUBSCRIPTION_LINK.exec(pathname) ?? []
  if (token !== undefined) return openSubscriptionLink(context, token)
  const [, id, form] = SUBSCRIPTION_PAGE.exec(pathname) ?? []
  if (id === undefined) return null
  if (form === 'card') return cardPage(context, id)
  return form === 'address' ? addressPage(context, id) : subscriptionPage(context, id)
}

/** Decodes a name in a path. Returns null for a text with a broken escape. */
function decodeName(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/**
 * Answers a POST request. A preview accepts no form: a draft can be looked at, and not bought from.
 */
export async function submitForm(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { pathname } = context.url
  if (context.site.preview !== null) return redirect('/')
  const handler = Object.hasOwn(FORMS, pathname) ? FORMS[pathname] : undefined
  if (handler !== undefined) return handler(context, form)
  const [, subscription, change] = SUBSCRIPTION_ACTION.exec(pathname) ?? []
  const verb = SUBSCRIPTION_ACTIONS.find((each) => each === change)
  if (subscription !== undefined && verb !== undefined) {
    return changeSubscription(context, subscription, verb, form)
  }
  const [, id, action] = ORDER_ACTION.exec(pathname) ?? []
  if (id === undefined) return notFoundPage(context)
  if (action === 'cancel') return cancelOrder(context, id, form)
  if (action === 'pay') return payOrder(context, id, form)
  if (action === 'return') return returnOrder(context, id, form)
  return action === 'edit' ? editOrder(context, id, form) : refundOrder(context, id, form)
}
