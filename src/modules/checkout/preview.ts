import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as giftCards from '../gift-cards/service.ts'
import * as inventory from '../inventory/service.ts'
import { knownAddress } from '../orders/ship-to.ts'
import { rateOf, type TaxProvider } from '../pricing/tax.ts'
import * as storeCredit from '../store-credit/service.ts'
import { requireOffered, requirePolicies, requireServed } from './admission.ts'
import { limitCodes } from './code-limit.ts'
import { goodsOf, makeQuote } from './quote.ts'
import { quotedRenewals } from './quoted-renewals.ts'
import type { Preview, PreviewRequest } from './schema.ts'
import { asksProvider, type CheckoutDeps, readSale, type Sale } from './service.ts'

/** Prices a cart by the same function as a checkout. Reserves nothing. */

/** A guest has no store credit. */
const NO_CREDIT: ReadonlyMap<string, number> = new Map()

/** The amounts that store credit and a gift card could pay. */
interface Balances {
  credit: ReadonlyMap<string, number>
  giftCard: Awaited<ReturnType<typeof findGiftCard>>
}

/** `caller` is the address of the request, for a storefront that does not send its shopper's. */
export async function preview(
  db: TenantDb,
  deps: CheckoutDeps,
  sent: PreviewRequest,
  caller: string,
): Promise<Preview> {
  const customer_ref = sent.customer_ref ?? ''
  const shipping_address = sent.shipping_address ? knownAddress(sent.shipping_address) : null
  const request = { ...sent, customer_ref, shipping_address }
  const tax = shipping_address === null ? orNoTax(deps.tax) : deps.tax
  const ids = request.items.map(({ variant_id }) => variant_id.toLowerCase()).filter(isUuid)
  // Before the transaction: the limit of codes is counted elsewhere.
  const giftCard = await findGiftCard(db, deps, sent, caller)
  const show = async (tx: Db) => {
    const [sale, stock, credit] = await awaitAll([
      readSale(tx, { tax }, request),
      inventory.available(tx, ids),
      customer_ref === '' ? NO_CREDIT : storeCredit.availableByCurrency(tx, customer_ref),
    ])
    requirePolicies(request, sale)
    requireOffered({ ...request, items: [], subscribe: false }, sale)
    requireServed(request, sale)
    return shownPreview(db, deps, request, { sale, stock, balances: { credit, giftCard } })
  }
  if (asksProvider(request)) return show(db)
  return db.transaction('checkout: preview', show)
}

/**
 * A provider that may fail: many cannot compute a tax without an address. The tax is then computed later, with the
 * address, and the page that shows the cart does not fail.
 */
const orNoTax = (provider: TaxProvider | null): TaxProvider | null =>
  provider &&
  (async (name, question) => {
    try {
      return await provider(name, question)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'service_unavailable') return 0
      throw error
    }
  })

/** Finds the gift card of a request; null if none can be used. Guesses are limited like those of coupons. */
const findGiftCard = (
  db: Db,
  { limits, keys }: CheckoutDeps,
  { gift_card_code: code, ip: shopper }: PreviewRequest,
  caller: string,
) =>
  limitCodes(limits, { kind: 'gift-codes', tenant: db.tenant, code, shopper, caller }, (tried) =>
    giftCards.findBalance(db, keys.giftCards, tried),
  )

interface PreviewFacts {
  sale: Sale
  stock: ReadonlyMap<string, number | null>
  balances: Balances
}

function shownPreview(
  db: Db,
  { keys }: CheckoutDeps,
  request: PreviewRequest,
  { sale, stock, balances }: PreviewFacts,
): Preview {
  const { priced, options } = sale
  const { currency, total_cents, shipping_cents, tax_cents } = priced
  const address_required =
    asksProvider(request) && !request.shipping_address && priced.taxed.question.lines.length > 0
  const tenders = tendersOf(request, sale, balances)
  const paid_cents = tenders.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  return {
    items: shownItems(sale, stock),
    subtotal_cents: priced.subtotal_cents,
    gift_card_cents: priced.gift_card_cents,
    discount_cents: priced.discount_cents,
    shipping_cents,
    tax_cents,
    total_cents,
    prices_include_tax: options.pricesIncludeTax,
    tax_rate_bps: rateOf(request.tax),
    currency,
    coupon: { code: request.coupon_code || null, ...priced.coupon },
    store_credit_available_cents: balances.credit.get(currency) ?? 0,
    free_shipping_remaining_cents: priced.free_shipping_remaining_cents,
    address_required,
    tenders,
    amount_due_cents: total_cents - paid_cents,
    renewals: quotedRenewals(request, sale),
    quote_token: makeQuote(
      { key: keys.quote, clock: db.clock },
      {
        tenant: db.tenant,
        total_cents,
        currency,
        shipping_cents,
        tax_cents,
        goods: address_required ? goodsOf(sale) : null,
      },
    ),
  }
}

/** The amount that each tender would pay, in the order in which a checkout holds them. Neither pays for a gift card. */
function tendersOf(
  { apply_store_credit, gift_card_code }: PreviewRequest,
  { priced }: Sale,
  { credit, giftCard }: Balances,
): Preview['tenders'] {
  const { currency, total_cents, gift_card_cents } = priced
  const payable = total_cents - gift_card_cents
  const ofCredit = apply_store_credit ? Math.min(credit.get(currency) ?? 0, payable) : 0
  const tenders: Preview['tenders'] = []
  if (ofCredit > 0) {
    tenders.push({ tender: 'store_credit', amount_cents: ofCredit, gift_card_last4: null })
  }
  if (!gift_card_code) return tenders
  if (giftCard?.currency !== currency) throw new ApiError('gift_card_invalid')
  const ofCard = Math.max(0, Math.min(giftCard.balance_cents, payable - ofCredit))
  if (ofCard > 0) {
    const gift_card_last4 = giftCard.code_last4
    tenders.push({ tender: 'gift_card', amount_cents: ofCard, gift_card_last4 })
  }
  return tenders
}

function shownItems({ priced }: Sale, stock: PreviewFacts['stock']): Preview['items'] {
  const quantities = new Map<string, number>()
  for (const { variant_id, quantity } of priced.lines) {
    quantities.set(variant_id, (quantities.get(variant_id) ?? 0) + quantity)
  }
  return priced.lines.map((line) => ({
    variant_id: line.variant_id,
    quantity: line.quantity,
    unit_price_cents: line.unit_price_cents,
    list_price_cents: line.list_price_cents,
    line_total_cents: line.line_total_cents,
    available:
      (quantities.get(line.variant_id) ?? 0) <=
      (stock.get(line.variant_id) ?? Number.POSITIVE_INFINITY),
  }))
}
